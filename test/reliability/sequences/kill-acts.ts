import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { endAccess, removeUser, restore, revoke, type Side } from './model.ts'
import {
  type Act,
  done,
  nextPath,
  pick,
  pickKey,
  pickUser,
  readRows,
  whileStopped,
  type World,
} from './world.ts'

/** Either the old state or the new one. */
async function adopt(world: World, candidates: readonly Side[]): Promise<void> {
  const { main } = world
  // A start completes what a kill left between the commit and the journal.
  await done(world, main, 'key', 'list')
  const found = await readRows(main)
  const side = candidates.find(({ rows }) => isDeepStrictEqual(rows, found))
  assert.ok(side !== undefined, `neither the old state nor the new one: ${JSON.stringify(found)}`)
  main.side = side
}

function after(side: Side, change: (side: Side) => void): Side {
  const changed = structuredClone(side)
  change(changed)
  return changed
}

export const killRestore: Act = async (world) => {
  const { main } = world
  const archive = pick(world, world.archives)
  if (archive === null) return false
  await whileStopped(world, async () => {
    const restored = after(main.side, (side) => restore(side, archive.side))
    const hasEnded = await world.kill(main, ['restore', archive.path, '--yes'])
    await adopt(world, hasEnded ? [restored] : [main.side, restored])
  })
  return true
}

export const killRevoke: Act = async (world) => {
  const { main } = world
  const hash = pickKey(world)
  if (hash === null) return false
  const revoked = after(main.side, (side) => revoke(side, hash))
  const hasEnded = await world.kill(main, ['key', 'revoke', '--key-stdin'], world.keys.get(hash))
  await adopt(world, hasEnded ? [revoked] : [main.side, revoked])
  return true
}

/** Access ends first, then the rest. */
export const killRemove: Act = async (world) => {
  const { main } = world
  const user = pickUser(world)
  if (user === null) return false
  const ended = after(main.side, (side) => endAccess(side, user.id))
  const removed = after(main.side, (side) => removeUser(side, user.id))
  const hasEnded = await world.kill(main, ['user', 'remove', ...user.named, '--yes'])
  await adopt(world, hasEnded ? [removed] : [main.side, ended, removed])
  return true
}

export const killBackup: Act = async (world) => {
  const path = nextPath(world, 'archive')
  const hasEnded = await world.kill(world.main, ['backup', path])
  if (hasEnded) world.archives.push({ path, side: structuredClone(world.main.side) })
  return true
}
