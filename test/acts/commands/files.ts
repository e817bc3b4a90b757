import type { TestContext } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { documentOf } from '../../fixtures/document.ts'
import { type Commands, commandsIn } from '../../cli/command.ts'

export const hashOf = (key: string) => hashApiKey(key).toString('hex')
export const fileOf = (...users: object[]) => JSON.stringify(documentOf({ users }))

export const NAMES = ['ada', 'bob', 'cid']

/** An organization and users with a key and a server each: one transaction for each of them. */
export const STATE = JSON.stringify(
  documentOf({
    organizations: [
      {
        slug: 'red',
        name: 'Red',
        members: NAMES.map((name) => {
          return { email: `${name}@example.com`, role: name === 'cid' ? 'owner' : 'member' }
        }),
      },
    ],
    users: NAMES.map((name) => ({
      email: `${name}@example.com`,
      keys: [{ name, key_hash: hashOf(name) }],
      servers: [{ name, slug: name, address: `${name}.example.com`, organization: 'red' }],
    })),
  }),
)

/**
 * A file of a whole site: an organization whose owner comes last, and users with a key, a server of
 * their own and one of the organization each.
 */
export function siteOf(users: number): string {
  const names = Array.from({ length: users }, (_, index) => `user${index}`)
  return JSON.stringify(
    documentOf({
      organizations: [
        {
          slug: 'red',
          name: 'Red',
          members: names.map((name, index) => {
            return { email: `${name}@example.com`, role: index === users - 1 ? 'owner' : 'member' }
          }),
        },
      ],
      users: names.map((name) => ({
        external_id: name,
        email: `${name}@example.com`,
        keys: [{ name, key_hash: hashOf(name) }],
        servers: ['red', null].map((organization) => {
          return { name, slug: 's', address: `${name}.example.com`, organization }
        }),
      })),
    }),
  )
}

/** A program with an empty database, and what exporting it prints. */
export async function empty(t: TestContext): Promise<Commands & { exported(): Promise<string> }> {
  const program = commandsIn(t)
  await program.done('migrate')
  return { ...program, exported: () => program.done('export') }
}
