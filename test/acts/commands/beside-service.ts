import assert from 'node:assert/strict'
import { generateKey } from '../../../src/keys/api-key.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { type Answer, ask } from '../../fixtures/requests.ts'
import type { ProcessOptions } from '../../cli/process.ts'
import type { Program } from '../../cli/program.ts'
import { documentOf } from '../../fixtures/document.ts'
import { hashOf } from './files.ts'

const ADA = { email: 'ada@example.com' }

const ada = (keys: object[], address: string, acts: object = {}) =>
  JSON.stringify(
    documentOf({
      users: [{ ...ADA, keys, servers: [{ name: 'S', slug: 's', address }] }],
      ...acts,
    }),
  )

/**
 * Asks again after a 502, and after the 429 that may follow one: PostgreSQL on a busy machine may
 * take longer than a claim waits.
 */
export async function askPatiently(port: number, key: string): Promise<Answer> {
  let answer = await ask(port, { key })
  await eventually(async () => {
    if (answer.status !== 502 && answer.status !== 429) return true
    answer = await ask(port, { key })
    return false
  })
  return answer
}

/** Applies states while the service runs on the same database. */
export async function besideService(program: Program, options: ProcessOptions = {}): Promise<void> {
  const [old, moved] = [generateKey(), generateKey()]
  const { port } = await program.serve(options)
  const apply = (stdin: string) => program.done('apply - --yes', { stdin, ...options })
  const addresses = async (key: string) => {
    const { status, body } = await askPatiently(port, key)
    assert.equal(status, 200, body)
    return JSON.parse(body).servers.map(({ address }: { address: string }) => address)
  }
  await apply(ada([{ name: 'old', key_hash: hashOf(old) }], 'one.example.com'))
  assert.deepEqual(await addresses(old), ['one.example.com'])
  const revoke_keys = [{ ...ADA, key_hash: hashOf(old) }]
  await apply(ada([{ name: 'moved', key_hash: hashOf(moved) }], 'two.example.com', { revoke_keys }))
  assert.equal((await askPatiently(port, old)).status, 401)
  assert.deepEqual(await addresses(moved), ['two.example.com'])
}
