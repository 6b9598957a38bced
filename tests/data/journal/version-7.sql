-- A journal of schema version 7: as version 5, with names of projects, a flavor, and a request
-- that can't be read.
PRAGMA application_id = 1380270416;
PRAGMA user_version = 7;
BEGIN TRANSACTION;
CREATE TABLE chosen (
    request INTEGER NOT NULL REFERENCES request (seq) ON DELETE CASCADE,
    server  TEXT NOT NULL,
    name    TEXT NOT NULL,
    project TEXT NOT NULL,
    host    TEXT NOT NULL, project_name TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (request, server)
) WITHOUT ROWID;
INSERT INTO "chosen" VALUES(1,'victim-1','batch-7','cheap','host-1','batch');
CREATE TABLE "event" (
    seq    INTEGER PRIMARY KEY,
    kind   TEXT NOT NULL,
    reason TEXT NOT NULL,
    at     INTEGER NOT NULL
);
INSERT INTO "event" VALUES(1,'paused','by alice',1714565000000);
INSERT INTO "event" VALUES(2,'reservation','principal ''ops'': reserve 6 VCPU for eng on host-1',1714565100000);
CREATE TABLE hold (
    seq        INTEGER PRIMARY KEY,
    provider   TEXT NOT NULL,
    class      TEXT NOT NULL,
    host       TEXT NOT NULL,
    host_name  TEXT NOT NULL,
    before     INTEGER NOT NULL,
    raised     INTEGER NOT NULL,
    request    TEXT NOT NULL,
    since      INTEGER NOT NULL,
    how        TEXT,
    reason     TEXT,
    ended_at   INTEGER,
    CHECK ((how IS NULL) = (ended_at IS NULL))
);
INSERT INTO "hold" VALUES(1,'provider-1','CUSTOM_PREEMPTIBLE','provider-1','host-1',0,4,'req-done',1714564800500,NULL,NULL,NULL);
CREATE TABLE message (
    seq        INTEGER PRIMARY KEY,
    message_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    request    TEXT NOT NULL,
    verdict    TEXT NOT NULL,
    reason     TEXT NOT NULL,
    at         INTEGER NOT NULL
);
INSERT INTO "message" VALUES(1,'m-1','compute_task.build_instances.error','req-done','duplicate','delivered again',1714564807000);
CREATE TABLE plan (
    seq      INTEGER PRIMARY KEY,
    request  INTEGER NOT NULL REFERENCES request (seq) ON DELETE CASCADE,
    round    INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    decision TEXT NOT NULL
);
INSERT INTO "plan" VALUES(1,1,1,1714564801000,'{"decision":"plan","hosts":[{"pending_releases":[],"free_after":{"VCPU":8},"free_before":{"VCPU":4},"host":"provider-1","host_name":"host-1","reason":"leaves the least unused","slots":2,"slots_ready":1,"victims":[{"created":"2024-04-30T12:00:00.000Z","host":"host-1","name":"batch-7","project":"cheap","reason":"its project carries the tag preemptible","resources":{"VCPU":4},"server":"victim-1"}]}],"note":"search cut short","rejected":[{"code":"disabled","host":"provider-2","host_name":"host-2","reason":"maintenance"}],"rejected_counts":[],"request":"req-done","slots_freed":2,"slots_requested":2,"slots_wanted":2,"strategy":"strict","version":1}');
INSERT INTO "plan" VALUES(2,2,1,1714564806000,'{"decision":"not-enough","reason":"too few","rejected":[],"rejected_counts":[],"slots_possible":1,"slots_requested":2,"version":1}');
INSERT INTO "plan" VALUES(3,3,1,1714564805500,'{"decision":"not-enough","reason":"the limit","rejected":[{"code":"in-cooldown","host":"provider-2","host_name":"host-2","reason":"room freed there was not taken"}],"rejected_counts":[],"slots_possible":1,"slots_requested":2,"version":1,"safeguard":"limit-window"}');
CREATE TABLE request (
    seq            INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    request        TEXT NOT NULL,
    received_at    INTEGER NOT NULL,
    outcome        TEXT,
    outcome_reason TEXT,
    finished_at    INTEGER, safeguard TEXT NOT NULL DEFAULT '', freed_room TEXT, freed_room_reason TEXT, untaken TEXT, freed_room_at INTEGER,
    CHECK ((outcome IS NULL) = (finished_at IS NULL))
);
INSERT INTO "request" VALUES(1,'req-done','{"availability_zone":"az1","excluded_hosts":{"host-9":"its own host"},"forbidden_traits":["CUSTOM_SLOW"],"id":"req-done","operation":"resize","project":"project-1","requesters":["waiting-1"],"required_traits":["CUSTOM_FAST"],"resources":{"CUSTOM_GOLD":1,"MEMORY_MB":2048,"VCPU":4},"sent_at":"2024-05-01T11:59:55.000Z","slots":2,"version":1,"project_name":"web","flavor":"m1.large"}',1714564800000,'freed','1 of 1 victims are gone',1714564804000,'','wasted','nobody took the room in time','["provider-1"]',1714565000000);
INSERT INTO "request" VALUES(2,'req-open','{',1714564805000,NULL,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "request" VALUES(3,'req-placed','{"availability_zone":"az1","excluded_hosts":{"host-9":"its own host"},"forbidden_traits":["CUSTOM_SLOW"],"id":"req-placed","operation":"resize","project":"project-1","requesters":["waiting-1"],"required_traits":["CUSTOM_FAST"],"resources":{"CUSTOM_GOLD":1,"MEMORY_MB":2048,"VCPU":4},"sent_at":"2024-05-01T11:59:55.000Z","slots":2,"version":1,"placement":{"aggregates":[["uuid-1"]],"apart_from":["other"],"group":{"id":"g","members":["waiting-2"],"max_on_a_host":1,"name":"n","policy":"anti-affinity"},"only_hosts":["host-1"],"why_only":"forced onto","with":[]}}',1714564805000,'refused','nobody died: the limit',1714564806000,'limit-window',NULL,NULL,NULL,NULL);
CREATE TABLE reservation (
    id      TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    user    TEXT NOT NULL,
    at      INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE reservation_order (
    seq        INTEGER PRIMARY KEY,
    key        TEXT NOT NULL,
    principal  TEXT NOT NULL,
    content    TEXT NOT NULL,
    mark       TEXT NOT NULL,
    removes    TEXT NOT NULL,
    state      TEXT NOT NULL,
    reason     TEXT NOT NULL,
    given_at   INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
);
CREATE TABLE step (
    seq     INTEGER PRIMARY KEY,
    request INTEGER NOT NULL REFERENCES request (seq) ON DELETE CASCADE,
    server  TEXT NOT NULL,
    step    TEXT NOT NULL,
    detail  TEXT NOT NULL,
    at      INTEGER NOT NULL
);
INSERT INTO "step" VALUES(1,1,'victim-1','delete-sent','needed',1714564802000);
INSERT INTO "step" VALUES(2,1,'victim-1','gone','',1714564803000);
INSERT INTO "step" VALUES(3,3,'victim-2','skipped','it is locked',1714564805600);
CREATE INDEX request_unfinished ON request (seq) WHERE finished_at IS NULL;
CREATE INDEX request_finished ON request (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX plan_of_request ON plan (request, seq);
CREATE INDEX step_of_request ON step (request, seq);
CREATE INDEX message_at ON message (at);
CREATE INDEX step_of_victim ON step (request, server);
CREATE INDEX step_sent ON step (at) WHERE step IN ('delete-sent', 'force-delete-sent');
CREATE UNIQUE INDEX hold_open ON hold (provider, class) WHERE ended_at IS NULL;
CREATE INDEX hold_ended ON hold (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX request_freed_room ON request (freed_room_at) WHERE freed_room_at IS NOT NULL;
CREATE INDEX event_at ON event (at);
CREATE INDEX chosen_server ON chosen (server);
CREATE INDEX chosen_name ON chosen (name);
CREATE INDEX reservation_order_key ON reservation_order (principal, key) WHERE key <> '';
CREATE INDEX reservation_order_open ON reservation_order (seq)
    WHERE state IN ('begun', 'waiting');
COMMIT;
