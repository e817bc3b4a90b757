import { NotConfigured } from '../model/faults.ts'

/**
 * The first version that has the fix of the WAL-reset bug (https://sqlite.org/wal.html), then the
 * versions of two older lines that have it, too.
 */
const FIXED_IN = [3, 51, 3] as const
const BACKPORTS = [
  [3, 50, 7],
  [3, 44, 6],
] as const

/**
 * Throws NotConfigured for a SQLite that can damage the file if one thread copies the log while
 * another writes. Node.js brings one without this mistake, but may be built with the system's.
 */
export function assertSafeVersion(version = process.versions.sqlite ?? 'of unknown version'): void {
  if (isSafe(version)) return
  throw new NotConfigured(
    `this Node.js was built with SQLite ${version}, which can damage a database while two ` +
      `connections use it. Use a Node.js with SQLite ${FIXED_IN.join('.')} or newer, such as the ` +
      'one from nodejs.org',
  )
}

function isSafe(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const [fixedMajor, fixedMinor, fixedPatch] = FIXED_IN
  if (major !== fixedMajor) return major > fixedMajor
  if (minor > fixedMinor) return true
  if (minor === fixedMinor) return patch >= fixedPatch
  return BACKPORTS.some(([, line, first]) => minor === line && patch >= first)
}
