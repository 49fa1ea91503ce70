-- A person can create these rows without limit, so the oldest ones go: of a person's codes that nobody used, of the
-- sign-ins of a person, of the requests that wait for consent in a browser, of a person's refresh families at one client.
-- Rows that somebody else holds are skipped: no insert waits for them, and none is refused because of them.

CREATE INDEX authorization_answer_unused ON boxgate.authorization_answer (box, user_id, created_at) WHERE used_at IS NULL;
CREATE INDEX refresh_family_live ON boxgate.refresh_family (box, user_id, client)
  WHERE user_id IS NOT NULL AND ended_at IS NULL;

-- Keeps the 50 newest unused codes of a person. A code that is gone is refused like one that never was.
CREATE FUNCTION boxgate.drop_oldest_codes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  WITH over AS MATERIALIZED (
    SELECT o.box, o.id
      FROM (SELECT DISTINCT n.box, n.user_id FROM new_rows n WHERE n.used_at IS NULL) AS n
     CROSS JOIN LATERAL (
           SELECT a.box, a.id FROM authorization_answer a
            WHERE a.box = n.box AND a.user_id = n.user_id AND a.used_at IS NULL
            ORDER BY a.created_at DESC, a.id DESC OFFSET 50) AS o
  ), held AS MATERIALIZED (
    SELECT a.box, a.id FROM authorization_answer a JOIN over o ON a.box = o.box AND a.id = o.id
     WHERE a.used_at IS NULL FOR UPDATE OF a SKIP LOCKED
  )
  DELETE FROM authorization_answer a USING held h WHERE a.box = h.box AND a.id = h.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER drop_oldest_codes AFTER INSERT ON boxgate.authorization_answer REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.drop_oldest_codes();

-- Keeps the 100 newest sign-ins of a person.
CREATE FUNCTION boxgate.drop_oldest_sign_ins() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  WITH over AS MATERIALIZED (
    SELECT o.box, o.browser
      FROM (SELECT DISTINCT n.box, n.user_id FROM new_rows n) AS n
     CROSS JOIN LATERAL (
           SELECT s.box, s.browser FROM sign_in s WHERE s.box = n.box AND s.user_id = n.user_id
            ORDER BY s.created_at DESC, s.browser DESC OFFSET 100) AS o
  ), held AS MATERIALIZED (
    SELECT s.box, s.browser FROM sign_in s JOIN over o ON s.box = o.box AND s.browser = o.browser
       FOR UPDATE OF s SKIP LOCKED
  )
  DELETE FROM sign_in s USING held h WHERE s.box = h.box AND s.browser = h.browser;
  RETURN NULL;
END
$$;
CREATE TRIGGER drop_oldest_sign_ins AFTER INSERT ON boxgate.sign_in REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.drop_oldest_sign_ins();

-- Keeps the 20 newest requests that wait for consent in a browser.
CREATE FUNCTION boxgate.drop_oldest_consent_requests() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  WITH over AS MATERIALIZED (
    SELECT o.box, o.id
      FROM (SELECT DISTINCT n.box, n.browser FROM new_rows n) AS n
     CROSS JOIN LATERAL (
           SELECT r.box, r.id FROM consent_request r WHERE r.box = n.box AND r.browser = n.browser
            ORDER BY r.expires_at DESC, r.id DESC OFFSET 20) AS o
  ), held AS MATERIALIZED (
    SELECT r.box, r.id FROM consent_request r JOIN over o ON r.box = o.box AND r.id = o.id FOR UPDATE OF r SKIP LOCKED
  )
  DELETE FROM consent_request r USING held h WHERE r.box = h.box AND r.id = h.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER drop_oldest_consent_requests AFTER INSERT ON boxgate.consent_request REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.drop_oldest_consent_requests();

-- Revokes all but the 100 most recently used refresh families of a person at a client. Upkeep deletes them a day later.
CREATE FUNCTION boxgate.end_oldest_families() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  WITH over AS MATERIALIZED (
    SELECT o.box, o.id
      FROM (SELECT DISTINCT n.box, n.user_id, n.client FROM new_rows n WHERE n.user_id IS NOT NULL) AS n
     CROSS JOIN LATERAL (
           SELECT f.box, f.id FROM refresh_family f
            WHERE f.box = n.box AND f.user_id = n.user_id AND f.client = n.client AND f.ended_at IS NULL
            ORDER BY f.last_used_at DESC, f.id DESC OFFSET 100) AS o
  ), held AS MATERIALIZED (
    SELECT f.box, f.id FROM refresh_family f JOIN over o ON f.box = o.box AND f.id = o.id
     WHERE f.ended_at IS NULL FOR UPDATE OF f SKIP LOCKED
  )
  UPDATE refresh_family f SET ended_at = now(), ended_as = 'revoked', expires_at = least(f.expires_at, now())
    FROM held h WHERE f.box = h.box AND f.id = h.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER end_oldest_families AFTER INSERT ON boxgate.refresh_family REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.end_oldest_families();
