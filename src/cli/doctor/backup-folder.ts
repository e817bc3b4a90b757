import {
  accessSync,
  constants,
  lstatSync,
  readdirSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Finding, ok, problem, warning } from '../../model/health/finding.ts'
import { countOf, MEGABYTE, quote } from '../../model/text.ts'

const CHECK = 'backup_folder'

/** Looks at the folder that `backup` writes to. Run as the user of that job. */
export function inspectBackupFolder(folder: string): Finding {
  const name = quote(folder)
  try {
    if (!statSync(folder).isDirectory())
      return problem(CHECK, `${name} is not a folder`, 'name the folder that `backup` writes to')
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return problem(
      CHECK,
      `this user cannot use the folder ${name} (${code})`,
      'create it with mode 700 for the user of the backup job, and run this command as that user',
    )
  }
  const files = readdirSync(folder).flatMap((file) => {
    // A backup that ends meanwhile removes its partial file.
    const stats = lstatSync(join(folder, file), { throwIfNoEntry: false })
    return stats?.isFile() ? [stats] : []
  })
  const { bavail, bsize } = statfsSync(folder)
  return (
    judgeRoom(name, files, bavail * bsize) ??
    judgeModes(name, statSync(folder), files) ??
    ok(CHECK, `${name} has ${countOf(files.length, 'file')}, and room for the next backup`)
  )
}

/** The next backup is about as large as the largest one. */
export function judgeRoom(
  name: string,
  files: readonly Pick<Stats, 'size'>[],
  free: number,
): Finding | null {
  const largest = Math.max(0, ...files.map(({ size }) => size))
  if (free > largest) return null
  return problem(
    CHECK,
    `the disk of ${name} has ${Math.floor(free / MEGABYTE)} MB left, less than one backup needs`,
    'make room, or keep fewer backups with --keep',
  )
}

function judgeModes(name: string, folder: Stats, files: readonly Stats[]): Finding | null {
  const isOpen = (folder.mode & 0o022) !== 0
  if (!isOpen && files.every(({ mode }) => (mode & 0o077) === 0)) return null
  return warning(
    CHECK,
    isOpen
      ? `other users of this machine may replace the backups in ${name}`
      : `other users of this machine may read files in ${name}`,
    'backups have hashes of keys and passwords: run chmod 700 on the folder and 600 on the files',
  )
}
