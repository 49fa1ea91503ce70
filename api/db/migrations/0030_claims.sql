-- What tokens tell of a person: whether the email was verified, the groups of an id_token and a JWT, and since when the
-- person of a refresh family was signed in.

-- Null: the claim is absent, for an administrator gave the email. False by default, also for every existing row and for
-- rows of an older release: nobody knows who gave the email of those.
ALTER TABLE boxgate.user
  ADD COLUMN email_verified boolean DEFAULT false,
  -- True: the person registered, and an administrator has not approved it yet. Approval verifies the email.
  ADD COLUMN awaits_approval boolean NOT NULL DEFAULT false;

-- The time of the sign-in, for the id_tokens of refreshes. Null: a client's own, or begun under an older release.
ALTER TABLE boxgate.refresh_family ADD COLUMN authenticated_at timestamptz;

CREATE OR REPLACE FUNCTION boxgate.living_user(p_box text, p_user bigint, p_version bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN (SELECT jsonb_build_object('id', u.id, 'email', u.email, 'email_verified', u.email_verified, 'data', u.data,
                                    'groups', boxgate.groups_of(u.box, u.id))
            FROM boxgate.user u
           WHERE u.box = p_box AND u.id = p_user AND u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= p_version);
END
$$;

-- find_codes of migration 16, with the person for tokens that tell of them: by the scope `groups`, or because the client of
-- the code puts claims into its id_tokens (p_claims). Other codes pay nothing for it. Replicas of the release before call the
-- old function.
CREATE FUNCTION boxgate.find_codes(p_box text[], p_id uuid[], p_claims boolean[])
RETURNS TABLE (nth bigint, config_version bigint, hash text, client text, user_id bigint, version bigint,
               redirect_uri text, scope text, audience text[], challenge text, nonce text, authenticated bigint,
               user_agent text, created bigint, expires bigint, used boolean, user_gone boolean, person jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET join_collapse_limit = 1
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, encode(a.hash, 'hex'), a.client, a.user_id, a.version, a.redirect_uri, a.scope,
         a.audience, a.challenge, a.nonce, (extract(epoch FROM a.authenticated_at) * 1000)::bigint, a.user_agent,
         (extract(epoch FROM a.created_at) * 1000)::bigint, (extract(epoch FROM a.expires_at) * 1000)::bigint,
         a.used_at IS NOT NULL,
         (SELECT u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= a.version
            FROM boxgate.user u WHERE u.box = a.box AND u.id = a.user_id) IS NOT TRUE,
         CASE WHEN n.claims OR 'groups' = ANY (string_to_array(a.scope, ' '))
              THEN living_user(a.box, a.user_id, a.version) END
    FROM unnest(p_box, p_id, p_claims) WITH ORDINALITY AS n (box, id, claims, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (SELECT * FROM authorization_answer t WHERE t.box = n.box AND t.id = n.id OFFSET 0) a ON true;
END
$$;
