-- A check of a user's token carries the IDs and names of the groups, as policies and claims see them. The descriptions came
-- along until now: a thousand groups of one user with long ones made each check several megabytes, in statements that all
-- boxes share. The groups are read in the function itself, which keeps its plan.
CREATE OR REPLACE FUNCTION boxgate.living_user(p_box text, p_user bigint, p_version bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN (SELECT jsonb_build_object('id', u.id, 'email', u.email, 'email_verified', u.email_verified, 'data', u.data,
                                    'groups', (SELECT jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name) ORDER BY g.id)
                                                 FROM boxgate.group_member m
                                                 JOIN boxgate.group g ON g.box = m.box AND g.id = m.group_id
                                                WHERE m.box = u.box AND m.user_id = u.id))
            FROM boxgate.user u
           WHERE u.box = p_box AND u.id = p_user AND u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= p_version);
END
$$;
