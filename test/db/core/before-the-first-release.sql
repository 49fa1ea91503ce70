-- What `pg_dump` writes of the versions of a database that commit e1122952 has migrated.
CREATE SCHEMA boxgate;
GRANT USAGE ON SCHEMA boxgate TO boxgate_api;
CREATE TABLE boxgate.migration (
    number integer NOT NULL,
    name text NOT NULL,
    hash text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
INSERT INTO boxgate.migration VALUES (1, '0001_boxes_and_resources.sql', 'c87e51237d385d2828541c6ea391ddd3b52aa13702f63632e7ee4ad6c6519d74', '2026-11-28 21:07:09.15428+00');
INSERT INTO boxgate.migration VALUES (2, '0002_sessions.sql', 'e4abdd98bedd689de1ac421c6bfb828dfb1612dc9ebb19ae8cc379d94759aa8c', '2026-11-28 21:07:09.199757+00');
INSERT INTO boxgate.migration VALUES (3, '0003_box_versions.sql', '129b4b203331bc019e20d616a5140b8628d5e92965f9220a635a3413d7c5dc26', '2026-11-28 21:07:09.230622+00');
INSERT INTO boxgate.migration VALUES (4, '0004_session_room.sql', '7c94807de076858cf012958474106c9b39dea9a443b79961a4a2ab587e4b1221', '2026-11-28 21:07:09.238149+00');
INSERT INTO boxgate.migration VALUES (5, '0005_secrets_content_usage.sql', '2724ffa734fbb08f22e8b529ab24c4ac7f98f274f31e3b5ea7980ebf8a4928ac', '2026-11-28 21:07:09.24475+00');
INSERT INTO boxgate.migration VALUES (6, '0006_namespaces.sql', 'e512b0cb09db6302797784a45d0e9dfed2556049ebe48751b7c79457d458d09e', '2026-11-28 21:07:09.259448+00');
INSERT INTO boxgate.migration VALUES (7, '0007_client_assertions.sql', '97b4dcdee887a7c2f40d024cf898226f113de15ac6b12c28581ff7d2372ee3b2', '2026-11-28 21:07:09.263633+00');
INSERT INTO boxgate.migration VALUES (8, '0008_users_and_groups.sql', 'c4ea3801cbcb62f03da3a371e8a6d787bcd68c7765b1848d7c12c952a3182042', '2026-11-28 21:07:09.299639+00');
INSERT INTO boxgate.migration VALUES (9, '0009_written_in.sql', 'bdfab7601145f8d18bf86603a36cbddb64541ba5808de54ad996985ea55be3ea', '2026-11-28 21:07:09.347993+00');
INSERT INTO boxgate.migration VALUES (10, '0010_prune_revocations.sql', '7d421df6af9fa15a5e3c8d8fe4ea514426f178a208c9544f1119f9f4dd360661', '2026-11-28 21:07:09.353094+00');
INSERT INTO boxgate.migration VALUES (11, '0011_sign_in.sql', '5dc514e54c36a5c458841cecf4474c05ed94106d4e220842572e0b7de74fb1d0', '2026-11-28 21:07:09.362881+00');
INSERT INTO boxgate.migration VALUES (12, '0012_authorization.sql', 'fb2729c3cbdbc8752b99fd898e607de02121df64cac269ccdbb1b8ca9e86b686', '2026-11-28 21:07:09.374364+00');
INSERT INTO boxgate.migration VALUES (13, '0013_openid.sql', '70c4a61d2b863b3e64b6722f41c223ec455634989a556d1cd0bef041b6cda226', '2026-11-28 21:07:09.402295+00');
INSERT INTO boxgate.migration VALUES (14, '0014_bootstrapped.sql', 'c27c495322a1092435e4c6afc76d3f68eef1712f8a049eab35c5540957c3399c', '2026-11-28 21:07:09.403723+00');
INSERT INTO boxgate.migration VALUES (15, '0015_grants.sql', 'e0e5bbca68a2157ee5d2271ccb48e82f092d7523c2852ae9f383db18f9310efd', '2026-11-28 21:07:09.404378+00');
INSERT INTO boxgate.migration VALUES (16, '0016_code_flow.sql', '14e4e6ad8694d43f183f901761cb80d7a33d612bea5346c8e4c48141f39423f2', '2026-11-28 21:07:09.411945+00');
INSERT INTO boxgate.migration VALUES (17, '0017_quotas.sql', 'adc6cbc9b9d4c1d8850c2c09d5aed68748d8e9c3cbb11d008bb603488ee7d177', '2026-11-28 21:07:09.419109+00');
INSERT INTO boxgate.migration VALUES (18, '0018_family_grant.sql', '070ad8189b0f0d61b74e37efe300129b0b9002a5dcd89614eec91a83035364e3', '2026-11-28 21:07:09.448338+00');
INSERT INTO boxgate.migration VALUES (19, '0019_failed_attempts.sql', 'c763dfd09ab6e5e9ed3980cad9210331a6ea001e9ab8e12e729ce67f087972db', '2026-11-28 21:07:09.453713+00');
INSERT INTO boxgate.migration VALUES (20, '0020_box_host.sql', 'c9cd9841d2de0c78c225f0886da718a0034ae0cefafa1bba2b980509f91194e6', '2026-11-28 21:07:09.470997+00');
INSERT INTO boxgate.migration VALUES (21, '0021_user_rights.sql', '22e633ac979049905b66b5eee51873e92ded33cb3a3680fc063fd01dbf281c5b', '2026-11-28 21:07:09.519598+00');
INSERT INTO boxgate.migration VALUES (22, '0022_consent_targets.sql', '24be5983b973e78fe2cfd846ab9aab7822fc8c25a00ac8cf5152a71d4aa294ab', '2026-11-28 21:07:09.645825+00');
INSERT INTO boxgate.migration VALUES (23, '0023_bounds_of_a_person.sql', 'df1bf900fd6f2474d4c4e226180bfc2959a64e0080aefe800b06f01ea7566db2', '2026-11-28 21:07:09.65709+00');
INSERT INTO boxgate.migration VALUES (24, '0024_missing_namespace.sql', 'af3a26651669320d3e7467a11669749dfca929d6c3ca2a4d9ddb6e95ab5be164', '2026-11-28 21:07:09.666942+00');
INSERT INTO boxgate.migration VALUES (25, '0025_session_quota.sql', '709beffa03b1971348ed39e726d23ceb9f91908f684fecae94fba2aaffcc1e1c', '2026-11-28 21:07:09.674393+00');
INSERT INTO boxgate.migration VALUES (26, '0026_gone_service_accounts.sql', '72596c9eab3a823b75e809a4134466de1b566a717dea1d7e27667423d5b02871', '2026-11-28 21:07:09.683832+00');
INSERT INTO boxgate.migration VALUES (27, '0027_read_session.sql', 'daa87bf528b9f29acf818e7d2297c3ee57243d109bf31270cc90510056264bc6', '2026-11-28 21:07:09.68721+00');
INSERT INTO boxgate.migration VALUES (28, '0028_code_family.sql', '9c53e191b051ad372fabc7753f0b7ab2940588417a52143e6988372823009cbe', '2026-11-28 21:07:09.690861+00');
INSERT INTO boxgate.migration VALUES (29, '0029_kept_check_plans.sql', '85765e8e4207ae409f93e99ad9d134c0ea050f00dc215b2d400c7897af5d9df7', '2026-11-28 21:07:09.692037+00');
INSERT INTO boxgate.migration VALUES (30, '0030_claims.sql', 'c44f2c09ecde72d3c1340239b6a7cc648715c78aa9efc854df9d20edb2803997', '2026-11-28 21:07:09.694336+00');
INSERT INTO boxgate.migration VALUES (31, '0031_declared_groups.sql', '66dc62053f721a4e2d68a27c0e7d364d964df45171e9eb79df52d67c1ec2fa10', '2026-11-28 21:07:09.696439+00');
INSERT INTO boxgate.migration VALUES (32, '0032_audit_events.sql', 'd1ed6c6868dc5ba5075c75b94ea58f477eacd8179a86c78f31cf9bb58c3604da', '2026-11-28 21:07:09.699665+00');
INSERT INTO boxgate.migration VALUES (33, '0033_audit_search.sql', '06b5e3a081b46359cacccf5446f86896f3b559dc86e6f75563bbc5ce21352c54', '2026-11-28 21:07:09.703833+00');
INSERT INTO boxgate.migration VALUES (34, '0034_recorded_requests.sql', '2c4ac86558592715c96cbc0ad71c5a687c91ee55bc51e91a4e46108bdcff0ac7', '2026-11-28 21:07:09.709456+00');
INSERT INTO boxgate.migration VALUES (35, '0035_earlier_clients_with_reserved_ids.sql', 'd17f4a6a6d4e176558154f71b935b25322aa6a8aec95d05a215f1bb781b68892', '2026-11-28 21:07:09.741684+00');
INSERT INTO boxgate.migration VALUES (36, '0036_statistics_of_a_new_day.sql', '1ea65fe8d442976b072c8d0c237233f59cbc7a54d228c4a5e9820b0dbd7e5e6f', '2026-11-28 21:07:09.751876+00');
INSERT INTO boxgate.migration VALUES (37, '0037_read_records.sql', 'aff7edf68396c845ca91200aaba8400a2372038cc8ae1267766ac2fff8108440', '2026-11-28 21:07:09.765179+00');
INSERT INTO boxgate.migration VALUES (38, '0038_batched_refresh.sql', 'fa76434df787985863d23e9b7c5700e826b51b99e89cb493d4c20e73e4f6e762', '2026-11-28 21:07:09.767275+00');
INSERT INTO boxgate.migration VALUES (39, '0039_first_pages.sql', '05b25b6ed2c9d3a49e1cf66db3d5ee380121873c13dc7d14ed53690237a1eaa1', '2026-11-28 21:07:09.771227+00');
INSERT INTO boxgate.migration VALUES (40, '0040_pages_in_batches.sql', '23621edb50ed06bbe74c3aaf71b3415a58f8fffcc219b26a9a1551f91aa26e85', '2026-11-28 21:07:09.77749+00');
INSERT INTO boxgate.migration VALUES (41, '0041_batched_endings.sql', '6738628543797741ea6253c1353c4b54f7ce624aeb4466ebe1eb56934f0a04cd', '2026-11-28 21:07:09.787861+00');
INSERT INTO boxgate.migration VALUES (42, '0042_codes_at_once.sql', 'bca83ceb2f9df85562646f5832c1bded76f14268b76751896bd1439c6ef615c9', '2026-11-28 21:07:09.79357+00');
INSERT INTO boxgate.migration VALUES (43, '0043_kept_session_plans.sql', '660de224dc1e09a3a3c2d25bc51aab15baecfa89b49f680cdcda5c5e94a031fb', '2026-11-28 21:07:09.832085+00');
INSERT INTO boxgate.migration VALUES (44, '0044_one_count_for_a_box.sql', '45b9b93bba0714f03b55ab51c9b483648e05e1c35f385514dde6cf06f0b777ad', '2026-11-28 21:07:09.840143+00');
INSERT INTO boxgate.migration VALUES (45, '0045_stored_resources.sql', '4851fad7a17e76282303d632718c274f46b5884a5bda611e54656762c28678b8', '2026-11-28 21:07:09.843927+00');
INSERT INTO boxgate.migration VALUES (46, '0046_pages_of_many_partitions.sql', 'fa6daefb776f1843c7bbc1905798b369945c2bf7e92cea6b3feffdc8e83c45cd', '2026-11-28 21:07:09.849275+00');
INSERT INTO boxgate.migration VALUES (47, '0047_days_get_their_function.sql', '5bc144a4572aebc863159d1910945092ec3fb2b55c3f4ed6344dfc109578ce3a', '2026-11-28 21:07:09.860622+00');
INSERT INTO boxgate.migration VALUES (48, '0048_families_in_kept_plans.sql', 'd5b101c0ef12c608ca0d93f958129da60b54b02cf9c8f653f2a4e2f39f867dd9', '2026-11-28 21:07:09.870946+00');
INSERT INTO boxgate.migration VALUES (49, '0049_pages_after_the_first.sql', '32e12f3b08405073b61b05320c83e18ced46f23411cdcf56f1c61846b154bd55', '2026-11-28 21:07:09.875573+00');
INSERT INTO boxgate.migration VALUES (50, '0050_pages_of_many_grants.sql', '9dc4a03e2debe2d510e9b4d0fd6c96ac62e524782f218c2c07d1aea003cdc86e', '2026-11-28 21:07:09.880195+00');
INSERT INTO boxgate.migration VALUES (51, '0051_groups_of_a_check.sql', 'bc0e23d877ab898a526293c5c7fd909b64b07d8259ff92b73285b88754cfea84', '2026-11-28 21:07:09.90598+00');
INSERT INTO boxgate.migration VALUES (52, '0052_replaced_sign_ins.sql', 'dc2f67b6dafd4fb065811dfe7b0af9a2f68e016876788ef4d34e4aa0cf3b3cb6', '2026-11-28 21:07:09.919136+00');
ALTER TABLE ONLY boxgate.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (number);
GRANT SELECT ON TABLE boxgate.migration TO boxgate_api;
