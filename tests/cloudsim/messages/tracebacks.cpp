#include "tests/cloudsim/messages/tracebacks.hpp"

namespace reaper::cloudsim {

namespace {

constexpr const char* build_head =
    "Traceback (most recent call last):\n"
    ",  File \"nova/conductor/manager.py\", line 1587, in schedule_and_build_instances\n"
    "    host_lists = self._schedule_instances(context, request_specs[0],\n"
    "                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    ",  File \"nova/conductor/manager.py\", line 940, in _schedule_instances\n"
    "    host_lists = self.query_client.select_destinations(\n"
    "                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n";

constexpr const char* migrate_head =
    "Traceback (most recent call last):\n"
    ",  File \"nova/conductor/manager.py\", line 385, in _cold_migrate\n"
    "    task.execute()\n"
    ",  File \"nova/conductor/tasks/base.py\", line 25, in wrap\n"
    "    with excutils.save_and_reraise_exception():\n"
    ",  File \"oslo_utils/excutils.py\", line 227, in __exit__\n"
    "    self.force_reraise()\n"
    ",  File \"oslo_utils/excutils.py\", line 200, in force_reraise\n"
    "    raise self.value\n"
    ",  File \"nova/conductor/tasks/base.py\", line 23, in wrap\n"
    "    return original(self)\n"
    "           ^^^^^^^^^^^^^^\n"
    ",  File \"nova/conductor/tasks/base.py\", line 40, in execute\n"
    "    return self._execute()\n"
    "           ^^^^^^^^^^^^^^^\n"
    ",  File \"nova/conductor/tasks/migrate.py\", line 289, in _execute\n"
    "    selection = self._schedule()\n"
    "                ^^^^^^^^^^^^^^^^\n"
    ",  File \"nova/conductor/tasks/migrate.py\", line 337, in _schedule\n"
    "    selection_lists = self.query_client.select_destinations(\n"
    "                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n";

constexpr const char* tail =
    ",  File \"nova/scheduler/client/query.py\", line 41, in select_destinations\n"
    "    return self.scheduler_rpcapi.select_destinations(context, spec_obj,\n"
    "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    ",  File \"nova/scheduler/rpcapi.py\", line 160, in select_destinations\n"
    "    return cctxt.call(ctxt, 'select_destinations', **msg_args)\n"
    "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    ",  File \"oslo_messaging/rpc/client.py\", line 190, in call\n"
    "    result = self.transport._send(\n"
    "             ^^^^^^^^^^^^^^^^^^^^^\n"
    ",  File \"oslo_messaging/transport.py\", line 123, in _send\n"
    "    return self._driver.send(target, ctxt, message,\n"
    "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    ",  File \"oslo_messaging/_drivers/amqpdriver.py\", line 689, in send\n"
    "    return self._send(target, ctxt, message, wait_for_reply, timeout,\n"
    "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    ",  File \"oslo_messaging/_drivers/amqpdriver.py\", line 681, in _send\n"
    "    raise result\n"
    ",nova.exception_Remote.NoValidHost_Remote: ";

constexpr const char* remote =
    "\n"
    "Traceback (most recent call last):\n"
    "\n"
    "  File \"oslo_messaging/rpc/server.py\", line 244, in inner\n"
    "    return func(*args, **kwargs)\n"
    "           ^^^^^^^^^^^^^^^^^^^^^\n"
    "\n"
    "  File \"nova/scheduler/manager.py\", line 209, in select_destinations\n"
    "    raise exception.NoValidHost(reason=\"\")\n"
    "\n"
    "nova.exception.NoValidHost: ";

}  // namespace

std::string exception_message(const std::string& reason) {
    const std::string line = "No valid host was found. " + reason;
    return line + remote + line + "\n";
}

std::string traceback_of(std::string_view method, const std::string& reason) {
    std::string text = method == "migrate_server" ? migrate_head : build_head;
    return text + tail + exception_message(reason) + "\n";
}

}  // namespace reaper::cloudsim
