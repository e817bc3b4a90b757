import { hash } from 'node:crypto'
import type { Act } from '../../rows/act.ts'
import { documentOf } from '../../fixtures/document.ts'

/*
 * What happens on a site before a release keeps its files: something in every table. Use forms only
 * where no command does the same, because their fields change more often.
 */

/** A key of the site. It is a function of its name, so that no file has to hold it. */
export function keyNamed(name: string): string {
  return `svc_live_${hash('sha256', name)}`
}

/** The keys that answer, and those that were ended in each way. */
export const ACTIVE_KEYS = ['bot', 'website', 'team']
export const ENDED_KEYS = ['leaked', 'imported as revoked', 'of a disabled user', 'of a gone user']

const run = (command: string, stdin: unknown = ''): Act => ({
  command,
  stdin: typeof stdin === 'string' ? stdin : JSON.stringify(stdin),
})
const post = (path: string, fields: Record<string, string>): Act => ({
  by: 'ada',
  post: path,
  fields,
})
const key = (name: string) => ({ name, key_hash: hash('sha256', keyNamed(name)) })
const revokedKey = (name: string) => ({ ...key(name), revoked_at: '2026-01-02T03:04:05.678901Z' })

const STATE = documentOf({
  organizations: [
    {
      slug: 'guild',
      name: 'Guild 🎮',
      members: [
        { email: 'ada@example.com', role: 'owner' },
        { email: 'bob@example.com', role: 'member' },
      ],
    },
  ],
  users: [
    {
      email: 'ada@example.com',
      external_id: '4711',
      keys: [key('bot'), key('website'), key('leaked')],
      servers: [
        {
          name: 'Überleben',
          slug: 'survival',
          address: 'play.example.com:25566',
          edition: 'java',
          status: 'published',
          version: '1.21.4',
        },
        {
          name: 'サーバー "B"',
          slug: 'b',
          address: '192.0.2.1',
          edition: 'bedrock',
          status: 'draft',
        },
        { name: 'Shared', slug: 'shared', address: 'shared.example.com', organization: 'guild' },
      ],
    },
    { email: 'bob@example.com', keys: [key('team')] },
    { email: 'cem@example.com', keys: [key('of a disabled user')] },
    { external_id: 'gone', keys: [key('of a gone user')] },
  ],
})

/** The service starts and ends; its file can then be copied. */
export const LIFE: readonly Act[] = [
  run('migrate'),
  run('apply - --yes', STATE),
  run('key import --user bob@example.com --hash-file -', [revokedKey('imported as revoked')]),
  run('key revoke --key-stdin', keyNamed('leaked')),
  run('user disable cem@example.com'),
  run('user remove --external-id gone --yes'),
  run('user password ada@example.com', '<password>'),
  run('user link bob@example.com'),
  { service: 'starts' },
  post('/sign-in', { email: 'ada@example.com', password: 'wrong' }),
  post('/sign-in', { email: 'ada@example.com', password: '<password>' }),
  post('/dashboard/organizations', { name: 'Second', slug: 'second' }),
  post('/dashboard/servers/change', { published: '0', rows: '<server:Überleben>' }),
  {
    by: 'ada',
    post: '/dashboard/servers/import',
    fields: { form: 'i1', text: '' },
    file: 'name,address\nImported,import.example.com\n',
  },
  { service: 'ends' },
  { sql: `INSERT INTO identities VALUES ('https://id.example.com', 'bob', '<bob>')` },
]
