import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createUser } from '../../src/accounts/user.ts'
import { migrateSqlite, openSqliteStore } from '../../src/sqlite/store.ts'
import { cpuSecondsOfFamily } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import type { Scene } from '../scene.ts'
import { programEnvironment, programOf } from '../subject.ts'
import type { Result } from '../table.ts'
import { users } from '../../src/accounts/records/users.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'

/** An odd number: the median of two would be their mean, and the speed of a machine changes. */
const ROUNDS = 5
const program = programOf(join(import.meta.dirname, '../..'))
const EMAIL = 'ada@example.com'
const SECONDS_MAX = 600

/** Imports servers into an empty file, with the command that operators use. */
export async function measureImport(scene: Scene): Promise<Result[]> {
  const servers = scene.settings.requests
  const list = join(scene.folder, 'servers.json')
  writeFileSync(list, JSON.stringify(Array.from({ length: servers }, (_, n) => entryOf(n))))
  const rounds = await runRounds({
    title: `server import of ${servers} new servers into an empty file`,
    count: ROUNDS,
    async measure(number) {
      const path = join(scene.folder, `import-${number}.db`)
      await createOwner(path)
      const [startedAt, cpuBefore] = [performance.now(), cpuSecondsOfFamily(process.pid)]
      const args = ['server', 'import', '--user', EMAIL, list]
      const environment = programEnvironment(`sqlite:${path}`)
      await scene.children.run(program, args, SECONDS_MAX, environment)
      const seconds = (performance.now() - startedAt) / 1_000
      const cpu = cpuSecondsOfFamily(process.pid) - cpuBefore
      return {
        seconds,
        'CPU seconds': cpu,
        'per second': servers / seconds,
        'per CPU second': servers / cpu,
      }
    },
  })
  const name = 'servers imported per'
  return [
    [`${name} second`, medianOf(rounds, 'per second'), '≥ 50000 /s'],
    [`${name} CPU second`, medianOf(rounds, 'per CPU second'), '≥ 50000 /s'],
  ]
}

async function createOwner(path: string): Promise<void> {
  await migrateSqlite(path)
  const store = await openSqliteStore(path, { create: false })
  await users(store.database).insertUser(createUser(EMAIL), operatorAt(presentInstant()))
  await store.close()
}

function entryOf(number: number) {
  return {
    name: `Emerald Hollow ${number}`,
    address: `emerald-${number}.example.net:25565`,
    slug: `emerald-${number}`,
    version: '1.21.4',
    listing_kind: 'server',
  }
}
