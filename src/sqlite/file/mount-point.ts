import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { NotConfigured } from '../../model/faults.ts'

/**
 * Throws NotConfigured if the file itself is a mount point, as after `docker run -v
 * listing.db:/data/listing.db`. Another process that serves the same file elsewhere would not see
 * this serving lock.
 */
export function assertNotMounted(path: string, mountInfo = '/proc/self/mountinfo'): void {
  if (!existsSync(path) || !readMountPoints(mountInfo).includes(realpathSync(path))) return
  throw new NotConfigured(
    `cannot use the database file ${path}: it is a mount point of its own, so that another process could serve the same ` +
      'file by another path; mount its folder instead',
  )
}

/** Empty if the system has no such list. */
function readMountPoints(mountInfo: string): string[] {
  let text: string
  try {
    text = readFileSync(mountInfo, 'utf8')
  } catch {
    return []
  }
  // The fifth field escapes white space and backslashes in octal.
  return text
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .map((field) =>
      field.replace(/\\([0-7]{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      ),
    )
}
