import type { Scene } from '../scene.ts'
import type { Result } from '../table.ts'
import { measureImport } from './import.ts'
import { measureKeys } from './keys.ts'
import { measureOwners } from './owners.ts'

/** What more keys, more servers of one owner and a long import cost on SQLite. */
export async function measureGrowth(scene: Scene): Promise<Result[]> {
  return [
    ...(await measureImport(scene)),
    ...(await measureOwners(scene)),
    ...(await measureKeys(scene)),
  ]
}
