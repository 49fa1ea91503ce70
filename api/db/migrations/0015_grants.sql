-- Stored consents are searched by client and by time, and what a person lets a client have is ended when it is taken back.
CREATE INDEX consent_client ON boxgate.consent (box, client, user_id);
CREATE INDEX consent_created ON boxgate.consent (box, created_at, user_id, client);
CREATE INDEX refresh_family_user ON boxgate.refresh_family (box, user_id) WHERE user_id IS NOT NULL;
