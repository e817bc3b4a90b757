import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { copyPages } from '../../../src/archive/sqlite-backup.ts'
import { hasAccess, replaceFile, restore, revoke, type Side, unite } from './model.ts'
import {
  type Act,
  checkContent,
  checkGranted,
  done,
  nextPath,
  type Place,
  pick,
  start,
  stop,
  untilAnswered,
  whileStopped,
  type World,
} from './world.ts'

async function save(world: World, place: Place): Promise<void> {
  const path = nextPath(world, 'archive')
  await done(world, place, 'backup', path)
  world.archives.push({ path, side: structuredClone(place.side) })
}

export const backUp: Act = async (world) => {
  await save(world, world.main)
  return true
}

export const restoreArchive: Act = async (world) => {
  const { main } = world
  const archive = pick(world, world.archives)
  if (archive === null) return false
  await whileStopped(world, async () => {
    await done(world, main, 'restore', archive.path, '--yes')
    restore(main.side, archive.side)
  })
  return true
}

export const uniteList: Act = async (world) => {
  const archive = pick(world, world.archives)
  if (archive === null) return false
  await whileStopped(world, async () => {
    // Only the other database can lack a hash of the list.
    for (const place of [world.main, world.other]) {
      await done(world, place, 'restore', '--revocations', archive.path)
      unite(place.side, archive.side.list)
    }
  })
  await checkContent(world.other)
  return true
}

/** Moves an archive to the other engine and back, where it meets the list of that database. */
export const move: Act = async (world) => {
  const archive = pick(world, world.archives)
  if (archive === null) return false
  await done(world, world.other, 'restore', archive.path, '--yes')
  restore(world.other.side, archive.side)
  await checkContent(world.other)
  await save(world, world.other)
  return true
}

/** What `.restore` of the sqlite3 program does, beside the service. */
export const pagesBesideService: Act = async (world) => {
  const { main, service } = world
  const archive = pick(world, world.archives)
  if (main.engine !== 'sqlite' || service === null || archive === null) return false
  const source = new DatabaseSync(archive.path, { readOnly: true })
  await copyPages(source, pathOf(main))
  source.close()
  replaceFile(main.side, archive.side)
  world.foreign = null
  // The service unites the list before it answers. A command would do it for the service.
  const [key] = world.keys.values()
  if (key === undefined) await done(world, main, 'key', 'list')
  else await untilAnswered(world, key)
  return true
}

/** The service has rendered what the next act changes. */
export const waitForListings: Act = async (world) => {
  await checkGranted(world)
  return true
}

const pathOf = ({ url }: Place) => url.slice('sqlite:'.length)

export const copyFile: Act = async (world) => {
  const { main } = world
  if (main.engine !== 'sqlite') return false
  await whileStopped(world, async () => {
    const path = nextPath(world, 'file')
    copyFileSync(pathOf(main), path)
    const side = { ...structuredClone(main.side), foreign: world.foreign }
    world.files.push({ path, side })
  })
  return true
}

/** An older file in the place of this one, by hand. */
export const putFile: Act = async (world) => {
  const { main } = world
  const file = pick(world, world.files)
  if (file === null) return false
  const wasServing = world.service !== null
  await stop(world)
  for (const end of ['-wal', '-shm']) rmSync(`${pathOf(main)}${end}`, { force: true })
  copyFileSync(file.path, pathOf(main))
  replaceFile(main.side, file.side)
  world.foreign = (file.side as Side & { foreign: string | null }).foreign
  if (wasServing) await start(world)
  else await done(world, main, 'key', 'list')
  return true
}

export const exportState: Act = async (world) => {
  const { main } = world
  if (!Object.values(main.side.rows.users).every(hasAccess)) return false
  const path = nextPath(world, 'json')
  writeFileSync(path, await done(world, main, 'export'))
  world.states.push({ path, side: structuredClone(main.side) })
  return true
}

/** Adds what is missing, and revokes what the file has as revoked. Changes all or nothing. */
export const applyState: Act = async (world) => {
  const { main } = world
  const state = pick(world, world.states)
  if (state === null) return false
  if (!Object.values(main.side.rows.users).every(hasAccess)) return false
  const { code } = await world.run(main, ['apply', state.path, '--yes'])
  if (code !== 0) return true
  const { users, keys } = main.side.rows
  for (const [id, user] of Object.entries(state.side.rows.users)) {
    users[id] = { ...(users[id] ?? user), email: user.email }
    users[id].server = user.server ?? users[id].server
  }
  for (const [hash, key] of Object.entries(state.side.rows.keys)) {
    keys[hash] ??= { ...key }
    if (key.isRevoked || main.side.list.has(hash)) revoke(main.side, hash)
  }
  return true
}

export const stopOrStart: Act = async (world) => {
  await (world.service === null ? start(world) : stop(world))
  return true
}
