import type { Scene } from '../scene.ts'
import type { Result } from '../table.ts'
import { measureKeys } from './keys.ts'
import { measureOwners } from './owners.ts'

/** What more keys and more servers of one owner cost on SQLite. */
export async function measureGrowth(scene: Scene): Promise<Result[]> {
  return [...(await measureOwners(scene)), ...(await measureKeys(scene))]
}
