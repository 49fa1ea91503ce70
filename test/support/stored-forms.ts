const salt = 'c29tZXNhbHRzb21lc2FsdA';

/** Stored forms that other systems give a password, by what they are. */
export const STORED_FORMS = {
  'of bcrypt': '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
  'of SHA-512 crypt': `$6$rounds=5000$${salt}$abcdefgh`,
  'of yescrypt': `$y$j9T$${salt}$abcdefgh`,
  'of scrypt as a PHC string': `$scrypt$ln=15,r=8,p=1$${salt}$abcdefgh`,
  'of PBKDF2 as a PHC string': `$pbkdf2-sha256$i=29000$${salt}$abcdefgh`,
  'of PBKDF2 as passlib writes it': `$pbkdf2-sha512$25000$${salt}$abcdefgh`,
  'of a generated secret of ours': `$sha256$${'0'.repeat(64)}`,
  'of old WordPress': '$P$BVbptZxEcZV2yeLyYeN.O4ZeG8225d.',
  'of WordPress': '$wp$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
  'of Drupal': '$S$DxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxO',
  'of Apache': '$apr1$abcdefgh$abcdefghabcdefghabcdef',
  'of OpenLDAP': '{SSHA}5en6G6MezRroT3XKqkdPOmY/BfQ=',
  'of 389 Directory Server': '{PBKDF2-SHA512}10000$c29t$abcdefgh',
  'of Spring Security': '{bcrypt}$2a$10$dXJ3SW6G7P50lGmMkkmwe.20cQQubK3.HZWzG3YB1tlRy.fqvM/BG',
  'of Spring Security 5.8': '{pbkdf2@SpringSecurity_v5_8}abcdefghabcdefgh',
  'of Dovecot': '{BLF-CRYPT}$2y$05$abcdefgh',
  'of Django': 'pbkdf2_sha256$870000$abcdefgh$abcdefghabcdefgh=',
  'of old Django': 'sha1$abcdefgh$abcdefghabcdefgh',
  'of argon2 in Django': `argon2$argon2id$v=19$m=102400,t=2,p=8$${salt}$abcdefgh`,
  'of Werkzeug': 'scrypt:32768:8:1$abcdefgh$abcdefgh',
  'of Postgres': 'SCRAM-SHA-256$4096:abcdefgh$abcdefgh:abcdefgh',
} as const;

/** Secrets and passwords that only look similar. */
export const NO_STORED_FORMS = ['$ecret$Pass phrase', '{shape} of things', '$20 for a {coffee}', 'sha1 is old', 'md5!'];
