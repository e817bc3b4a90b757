import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freeFixedPort, startDaemon } from '../../fixtures/daemon/daemon.ts'
import type { Ends } from '../../reliability/history/battlefield/ends.ts'
import { replaced } from './shipped.ts'

/** PostgreSQL refuses to run as root. The other programs do not need to. */
export const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Starts one server of etcd, and returns its port. */
export async function startEtcd(t: Ends, folder: string): Promise<number> {
  const [port, peerPort] = [await freeFixedPort(), await freeFixedPort()]
  const peer = `http://127.0.0.1:${peerPort}`
  const config = replaced('deploy/patroni/etcd.yml', {
    'etcd1=http://10.0.0.11:2380,etcd2=http://10.0.0.12:2380,etcd3=http://10.0.0.13:2380': `etcd1=${peer}`,
    'http://10.0.0.11:2380': peer,
    'http://10.0.0.11:2379': `http://127.0.0.1:${port}`,
    '/var/lib/etcd/listing': join(folder, 'etcd'),
  })
  const file = join(folder, 'etcd.yml')
  writeFileSync(file, config)
  await startDaemon(t, '/usr/bin/etcd', ['--config-file', file], {
    port,
    log: join(folder, 'etcd.log'),
    ...UNPRIVILEGED,
  })
  return port
}

/** Deletes the leader's key. Keys and values are base64 in the JSON of etcd. */
export async function endLease(etcdPort: number): Promise<void> {
  const key = Buffer.from('/service/listing/leader').toString('base64')
  const response = await fetch(`http://127.0.0.1:${etcdPort}/v3/kv/deleterange`, {
    method: 'POST',
    body: JSON.stringify({ key }),
  })
  const { deleted } = (await response.json()) as { deleted?: string }
  assert.equal(deleted, '1')
}
