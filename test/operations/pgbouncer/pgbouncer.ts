import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { give } from '../../fixtures/postgres/cluster.ts'
import type { Server } from '../../fixtures/postgres/server.ts'
import { freeFixedPort, startDaemon } from '../../fixtures/daemon/daemon.ts'

export type PoolMode = 'session' | 'transaction' | 'statement'

/** Debian's PgBouncer in front of a PostgreSQL server. */
export interface PgBouncer {
  /** The URL of a database, through PgBouncer. */
  through(url: string): string
  /** Replaces the settings. They hold a moment later. */
  reload(settings: Settings): void
}

export type Settings = { pool_mode: PoolMode } & Record<string, string>

/** PgBouncer refuses to run as root. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

export async function startPgBouncer(
  t: Pick<TestContext, 'after'>,
  server: Pick<Server, 'port'>,
  settings: Settings,
): Promise<PgBouncer> {
  const folder = temporaryFolder(t)
  give(folder)
  const port = await freeFixedPort()
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(join(folder, 'users'), '"postgres" "secret"\n', { mode: 0o644 })
  writeFileSync(file, configOf(folder, port, server.port, settings), { mode: 0o644 })
  const child = await startDaemon(t, '/usr/sbin/pgbouncer', [file], {
    port,
    log: join(folder, 'output'),
    ...UNPRIVILEGED,
  })
  return {
    through: (url) => url.replace(/@[^/]+\//, `@127.0.0.1:${port}/`),

    reload(changed) {
      writeFileSync(file, configOf(folder, port, server.port, changed))
      child.kill('SIGHUP')
    },
  }
}

function configOf(folder: string, port: number, serverPort: number, settings: Settings): string {
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(folder, 'users'),
    ...settings,
  }
  const text = Object.entries(lines).map(([name, value]) => `${name} = ${value}`)
  return `[databases]\n* = host=127.0.0.1 port=${serverPort}\n[pgbouncer]\n${text.join('\n')}\n`
}
