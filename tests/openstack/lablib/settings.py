"""The configuration files of the services, written from the lab's description.

Only what a test lab needs differs from OpenStack's defaults: allocation ratios
of 1 so that a host is exactly full when it looks full, versioned notifications,
no quotas, and cheap passwords. Dedicated CPUs are had as PCPU only, as on hosts
with libvirt: a fake hypervisor lets such servers in anyway. A host counts as
down only if a test says so (forced_down), not because the machine is busy or its
agent was stopped; nor because it changed its cell: for a server's host Nova may
look at a deleted service, which reports no more.
"""

from pathlib import Path
from typing import Any

from .place import Place
from .releases import installed

Description = dict[str, Any]

POLICIES = ("keystone", "placement", "nova", "glance")

# Servers on a page of Nova's lists: few, so that a handful shows who forgets to turn it.
PAGE = 6


def write_all(place: Place, lab: Description) -> None:
    """Writes every configuration file below DIR/etc."""
    files = {
        "rabbitmq.conf": _rabbitmq(lab),
        "rabbitmq-plugins": "[].\n",
        "mariadb.sql": _databases(lab),
        "stunnel.conf": _stunnel(lab),
        "keystone.conf": _keystone(place, lab),
        "placement.conf": _placement(place, lab),
        "glance-api.conf": _glance(place, lab),
        "glance-paste.ini": GLANCE_PASTE,
        "nova.conf": _nova(place, lab),
        "nova-api.conf": "",
        "nova-api-soft.conf": "[DEFAULT]\nhost = controller-soft\nreclaim_instance_interval = 3600\n",
        "nova-conductor.conf": "",
        "nova-scheduler.conf": "",
        "nova-paste.ini": NOVA_PASTE,
    }
    for service in POLICIES:
        files[policy_file(place, service).name] = "{}\n"
    for host in lab["hosts"]:
        files[f"nova-{host}.conf"] = nova_host(place, lab, host)
        place.path("nova", host, "instances").mkdir(parents=True)
    for name, text in files.items():
        path = place.path("etc", name)
        path.write_text(text)
        path.chmod(0o600)


def nova_host(place: Place, lab: Description, host: str, transport: str | None = None) -> str:
    """Of a nova-compute; `transport` is that of another cell."""
    text = f"[DEFAULT]\nhost = {host}\nstate_path = {place.path('nova', host)}\n"
    if transport:
        text += f"transport_url = {transport}\n"
        text += f"[oslo_messaging_notifications]\ntransport_url = {lab['broker']['url']}\n"
    return text


def database_url(place: Place, lab: Description, name: str) -> str:
    return (
        f"mysql+pymysql://root:@localhost/{name}?unix_socket={place.path('run', 'mariadb.sock')}&charset=utf8"
    )


# Of the cell that a scenario may make.
OTHER_CELL = "cell2"
DATABASES = ("keystone", "placement", "glance", "nova_api", "nova_cell0", "nova", f"nova_{OTHER_CELL}")


def _databases(lab: Description) -> str:
    return "".join(f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8;\n" for name in DATABASES)


def _rabbitmq(lab: Description) -> str:
    broker, tls, ports = lab["broker"], lab["tls"], lab["ports"]
    return f"""\
listeners.tcp.1 = 127.0.0.1:{ports["amqp"]}
listeners.ssl.1 = 127.0.0.1:{ports["amqps"]}
ssl_options.cacertfile = {tls["ca_file"]}
ssl_options.certfile = {tls["server_cert_file"]}
ssl_options.keyfile = {tls["server_key_file"]}
ssl_options.verify = verify_peer
ssl_options.fail_if_no_peer_cert = true
default_user = {broker["user"]}
default_pass = {broker["password"]}
vm_memory_high_watermark.absolute = 1GB
disk_free_limit.absolute = 50MB
log.console = true
log.console.level = info
log.file = false
"""


def _stunnel(lab: Description) -> str:
    text = "foreground = yes\npid =\nsyslog = no\n"
    for service in ("keystone", "placement", "nova-api"):
        text += f"""
[{service}]
accept = 127.0.0.1:{lab["ports"][service + "-tls"]}
connect = 127.0.0.1:{lab["ports"][service]}
cert = {lab["tls"]["server_pem_file"]}
"""
    return text


def _service_user(lab: Description) -> str:
    """How a service of OpenStack authenticates to the others."""
    user = lab["users"]["openstack"]
    return f"""\
auth_type = password
auth_url = {lab["endpoints"]["RegionOne"]["identity"]}
username = {user["name"]}
password = {user["password"]}
project_name = {user["project"]}
user_domain_name = Default
project_domain_name = Default
region_name = RegionOne
"""


def policy_file(place: Place, service: str) -> Path:
    """What a scenario writes there holds from the next request on."""
    return place.path("etc", f"{service}-policy.yaml")


def _policy(place: Place, service: str) -> str:
    return f"[oslo_policy]\npolicy_file = {policy_file(place, service)}\n"


def _keystone(place: Place, lab: Description) -> str:
    """It is one process, so that its cache may be in its memory: a token is then checked in a fifth of
    the time."""
    return f"""\
[database]
connection = {database_url(place, lab, "keystone")}
[token]
provider = fernet
expiration = 14400
[fernet_tokens]
key_repository = {place.path("home", "fernet-keys")}
[fernet_receipts]
key_repository = {place.path("home", "fernet-keys")}
[credential]
key_repository = {place.path("home", "credential-keys")}
[identity]
password_hash_rounds = 4
[cache]
enabled = true
backend = dogpile.cache.memory
{_policy(place, "keystone")}"""


def _placement(place: Place, lab: Description) -> str:
    return f"""\
[placement_database]
connection = {database_url(place, lab, "placement")}
[api]
auth_strategy = keystone
[keystone_authtoken]
www_authenticate_uri = {lab["endpoints"]["RegionOne"]["identity"]}
{_service_user(lab)}
{_policy(place, "placement")}"""


def _glance(place: Place, lab: Description) -> str:
    return f"""\
[DEFAULT]
bind_host = 127.0.0.1
bind_port = {lab["ports"]["glance"]}
workers = 0
enabled_backends =
[database]
connection = {database_url(place, lab, "glance")}
[glance_store]
stores = file
default_store = file
filesystem_store_datadir = {place.path("home", "images")}
[keystone_authtoken]
{_service_user(lab)}
[paste_deploy]
flavor = keystone
config_file = {place.path("etc", "glance-paste.ini")}
{_policy(place, "glance")}"""


def _nova(place: Place, lab: Description) -> str:
    region = lab["endpoints"]["RegionOne"]
    return f"""\
[DEFAULT]
host = controller
my_ip = 127.0.0.1
state_path = {place.path("nova")}
transport_url = {lab["broker"]["url"]}
compute_driver = fake.MediumFakeDriver
report_interval = 5
periodic_fuzzy_delay = 0
service_down_time = 86400
initial_cpu_allocation_ratio = 1.0
initial_ram_allocation_ratio = 1.0
initial_disk_allocation_ratio = 1.0
reserved_host_memory_mb = 0
reserved_host_disk_mb = 0
instance_build_timeout = 0
graceful_shutdown_timeout = 2
rpc_response_timeout = 120
[api]
auth_strategy = keystone
max_limit = {PAGE}
[wsgi]
api_paste_config = {place.path("etc", "nova-paste.ini")}
[api_database]
connection = {database_url(place, lab, "nova_api")}
[database]
connection = {database_url(place, lab, "nova")}
[conductor]
workers = 1
[scheduler]
workers = 1
discover_hosts_in_cells_interval = 2
enable_isolated_aggregate_filtering = true
[workarounds]
disable_fallback_pcpu_query = true
[filter_scheduler]
enabled_filters = ComputeFilter,ComputeCapabilitiesFilter,ImagePropertiesFilter,ServerGroupAntiAffinityFilter,ServerGroupAffinityFilter,SameHostFilter,DifferentHostFilter,AggregateMultiTenancyIsolation,AggregateInstanceExtraSpecsFilter
[glance]
endpoint_override = {region["image"]}
[neutron]
endpoint_override = {region["network"]}
{_service_user(lab)}
[placement]
{_service_user(lab)}
[keystone_authtoken]
www_authenticate_uri = {region["identity"]}
{_service_user(lab)}
[oslo_concurrency]
lock_path = {place.path("run", "nova-locks")}
[oslo_messaging_notifications]
driver = messagingv2
[oslo_messaging_rabbit]
rabbit_retry_interval = 1
rabbit_retry_backoff = 1
rabbit_interval_max = 2
kombu_reconnect_delay = 0.5
{installed().oslo_rabbit}[notifications]
notification_format = versioned
[quota]
instances = -1
cores = -1
ram = -1
server_groups = -1
server_group_members = -1
[vnc]
enabled = False
{_policy(place, "nova")}"""


GLANCE_PASTE = """\
[pipeline:glance-api-keystone]
pipeline = versionnegotiation authtoken context rootapp
[composite:rootapp]
paste.composite_factory = glance.api:root_app_factory
/ : apiversions
/v2 : apiv2app
[app:apiversions]
paste.app_factory = glance.api.versions:create_resource
[app:apiv2app]
paste.app_factory = glance.api.v2.router:API.factory
[filter:versionnegotiation]
paste.filter_factory = glance.api.middleware.version_negotiation:VersionNegotiationFilter.factory
[filter:context]
paste.filter_factory = glance.api.middleware.context:ContextMiddleware.factory
[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
delay_auth_decision = true
"""

NOVA_PASTE = """\
[composite:osapi_compute]
use = call:nova.api.openstack.urlmap:urlmap_factory
/ : versions
/v2.1 : version_v21
/v2.1/+ : compute_v21
[composite:compute_v21]
use = call:nova.api.auth:pipeline_factory_v21
keystone = request_id faultwrap authtoken context compute_app
[pipeline:versions]
pipeline = faultwrap versions_app
[pipeline:version_v21]
pipeline = request_id faultwrap version_v21_app
[app:versions_app]
paste.app_factory = nova.api.openstack.compute.versions:Versions.factory
[app:version_v21_app]
paste.app_factory = nova.api.openstack.compute.versions:VersionsV2.factory
[app:compute_app]
paste.app_factory = nova.api.openstack.compute:APIRouterV21.factory
[filter:request_id]
paste.filter_factory = nova.api.compute_req_id:ComputeReqIdMiddleware.factory
[filter:faultwrap]
paste.filter_factory = nova.api.openstack:FaultWrapper.factory
[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
[filter:context]
paste.filter_factory = nova.api.auth:NovaKeystoneContext.factory
"""
