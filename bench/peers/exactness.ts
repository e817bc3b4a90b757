import type { Driver } from '../load/driver.ts'
import { type Keys, SERVERS_PER_OWNER } from '../scene.ts'
import type { Subject } from '../subject.ts'
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { hashApiKey } from '../../src/model/key-hash.ts'
import { ask } from '../../test/fixtures/requests.ts'

const AT_ONCE = 16

/**
 * Tests what a rate does not show: how many of several requests that use one key at once get a 200,
 * whether a restart forgets the last use, and whether a key that was just revoked in the database
 * is refused. A peer that issues keys itself is only asked the first.
 */
export async function testExactness(peer: Peer): Promise<string> {
  const [first, second, third] = peer.keys.all as [string, string, string]
  const { body } = await ask(peer.subject.port, { key: third })
  const { servers } = JSON.parse(body) as { servers: unknown[] }
  assert.equal(servers.length, SERVERS_PER_OWNER, `${peer.name} does not send the listing`)

  const asked = Array.from({ length: AT_ONCE }, () => statusFor(peer, first))
  const granted = (await Promise.all(asked)).filter((status) => status === 200).length
  const found = [`${granted} of ${AT_ONCE} requests with one key at once get a 200`]
  if (peer.issuesKeys) return found.join(', ')

  const since = performance.now()
  assert.equal(await statusFor(peer, second), 200)
  await peer.restart()
  const elapsed = Math.round(performance.now() - since)
  found.push(`after a restart a key gets ${await statusFor(peer, second)}, ${elapsed} ms later`)
  setRevokedAt(peer, first, 1)
  found.push(`revoked, it gets ${await statusFor(peer, first)}`)
  // The load uses this key, too.
  setRevokedAt(peer, first, null)
  return found.join(', ')
}

function setRevokedAt({ path }: Peer, key: string, instant: number | null): void {
  const database = new DatabaseSync(path)
  const update = database.prepare('UPDATE api_keys SET revoked_at = ? WHERE key_hash = ?')
  update.run(instant, hashApiKey(key))
  database.close()
}

async function statusFor({ subject }: Peer, key: string): Promise<number> {
  return (await ask(subject.port, { key })).status
}

/** A server to compare, on its own copy of the database. */
export interface Peer {
  name: string
  path: string
  keys: Keys
  /** Whether the keys are not those of the database. */
  issuesKeys: boolean
  driver: Driver
  subject: Subject
  /** Kills the process and starts another one. */
  restart(): Promise<void>
}
