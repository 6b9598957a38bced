"""A real OpenStack on one machine, for the end-to-end tests of the reaper.

Keystone, Glance, Placement, Nova (with fake hypervisors), RabbitMQ and MariaDB
run as ordinary processes on loopback, with all their state in one directory.

    place      the lab's directory: who may use it, and its description lab.json
    ports      free ports
    processes  start, find and end processes, by pid only
    steps      run the steps of a start in parallel and tell about them
    pki        the private certificate authority
    releases   what differs between the releases that are installed
    settings   the configuration files of the services
    services   how each service is started and when it is ready
    schemas    the databases' schemas, Nova's cells, Keystone's first user
    catalog    projects, users, regions, endpoints, flavors, the image
    lifecycle  up, down, status
    guard      takes a lab down when its starter ends
    access_log what was asked of the APIs, by whom, with what outcome

`wsgi_app`, `neutron_stub` and `fork_commands` are run as programs by the lab.
"""
