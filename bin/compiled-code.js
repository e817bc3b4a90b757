// Old JavaScript on purpose, so that an outdated Node.js can parse it.
// An import statement would evaluate every export of these modules, streams included. An outdated
// Node.js has no getBuiltinModule, and ends before it calls this module.
const builtin = process.getBuiltinModule || (() => ({}))
const { existsSync, lstatSync, mkdirSync, realpathSync, statSync } = builtin('node:fs')
const { homedir } = builtin('node:os')
const { dirname, isAbsolute, join } = builtin('node:path')

const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000

/**
 * Finds or creates the directory for compiled code. Null unless only this user can write to it. V8
 * runs cached code without verification, so a shared directory such as /tmp would let another user
 * supply code.
 */
export function compiledCodeFolder() {
  if (process.getuid === undefined) return null
  try {
    const folder = join(cacheFolder(), 'server-listing')
    // Check first: with sudo, HOME may name the directory of another user.
    if (!isSafe(realpathSync(nearestExisting(folder)))) return null
    make(folder)
    if (lstatSync(folder).isSymbolicLink()) return null
    // Use the real path from here on, so that redirecting a symbolic link above it has no effect.
    const real = realpathSync(folder)
    const { uid, mode } = statSync(real)
    const isOwn = uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0
    return isOwn && isSafe(dirname(real)) ? real : null
  } catch {
    // The cache only saves time, so a missing or read-only home must not stop the program.
    return null
  }
}

/** systemd sets CACHE_DIRECTORY to a directory of the unit. */
function cacheFolder() {
  const { CACHE_DIRECTORY, XDG_CACHE_HOME } = process.env
  for (const given of [(CACHE_DIRECTORY || '').split(':')[0], XDG_CACHE_HOME || ''])
    if (isAbsolute(given)) return given
  return join(homedir(), '.cache')
}

function nearestExisting(path) {
  return existsSync(path) ? path : nearestExisting(dirname(path))
}

/** Creates one level at a time, because `recursive` in Node.js 24 loops forever below /proc. */
function make(folder) {
  if (existsSync(folder)) return
  make(dirname(folder))
  mkdirSync(folder, 0o700)
}

/** True if only this user and root can rename entries of the directory or of its parents. */
function isSafe(folder) {
  const { uid, mode } = statSync(folder)
  const isOurs = uid === process.getuid() || uid === 0
  const isShared = (mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0
  if (!isOurs || isShared) return false
  const above = dirname(folder)
  return above === folder || isSafe(above)
}
