-- Searches in the audit trail by the address of the caller, by the session and by the member of a group.
CREATE INDEX audit_event_by_address ON boxgate.audit_event (box, remote_addr, id) WHERE remote_addr IS NOT NULL;
CREATE INDEX audit_event_by_session ON boxgate.audit_event (box, session, id) WHERE session IS NOT NULL;
CREATE INDEX audit_event_by_member ON boxgate.audit_event (box, member, id) WHERE member IS NOT NULL;
