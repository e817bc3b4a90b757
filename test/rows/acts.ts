import type { Act } from './act.ts'

/*
 * What no transcript of records/ can do, on an empty database: the service starts and ends, it
 * grants claims, and a restore replaces what they, people and commands have changed since.
 */

const run = (command: string, stdin = ''): Act => ({ command, stdin })
/** On a second database. */
const aside = (command: string, stdin = ''): Act => ({ command, stdin, isAside: true })

const SITE: Act[] = [
  run('migrate'),
  { service: 'starts' },
  { by: 'bob', post: '/sign-up', fields: { email: 'bob@example.com', password: '<password>' } },
  { service: 'ends' },
  run('user add ada@example.com --password-stdin', '<password>'),
  run('user add cem@example.com'),
  run('key issue --user ada@example.com --name bot'),
  run('key issue --user cem@example.com --name mine'),
  run('key issue --user cem@example.com --name pasted'),
  run('key revoke --key-stdin', 'in a log: <secret:pasted>'),
  run('key issue --user bob@example.com --name old'),
  run(
    'server import --user ada@example.com --organization guild -',
    '[{"name":"Survival","address":"play.example.com"}]',
  ),
]

const CLAIMS: Act[] = [
  { service: 'starts' },
  // Cem's, and not Ada's: whether a removed key's use is kept depends on its age in seconds.
  { claim: '<secret:mine>' },
  { claim: '<secret:pasted>' },
  { service: 'ends' },
]

const RESTORES: Act[] = [
  run('backup <folder>/archive'),
  run('user disable cem@example.com'),
  run('key issue --user bob@example.com --name young'),
  run('key revoke --user bob@example.com <key:old>'),
  run('user remove ada@example.com --yes'),
  run('restore <folder>/archive --yes'),
  run('key import --user bob@example.com --hash-file -', keysOf(null)),
  aside('user add ada@example.com --create'),
  aside('key import --user ada@example.com --hash-file -', keysOf('2020-04-01T00:00:00Z')),
  run('restore --revocations <folder>/aside.db --yes'),
]

export const ACTS: Act[] = [...SITE, ...CLAIMS, ...RESTORES]

/** The same key on both databases. */
function keysOf(revokedAt: string | null): string {
  return JSON.stringify([{ name: 'listed', key_hash: '4'.repeat(64), revoked_at: revokedAt }])
}
