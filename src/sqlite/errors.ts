import { NotConfigured } from '../listing/faults.ts'

const SQLITE_BUSY = 5
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_CANTOPEN = 14
const SQLITE_NOTADB = 26

/** Whether another connection holds the requested lock. */
export function isLocked(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY
}

/** A lasting failure to open as a sentence for the operator; null for any other error. */
export function unusable(path: string, error: unknown): NotConfigured | null {
  const reason = reasonFor(error)
  if (reason === null) return null
  return new NotConfigured(`cannot use the database file ${path}: ${reason}`, { cause: error })
}

function reasonFor(error: unknown): string | null {
  switch (codeOf(error)) {
    case 'EACCES':
    case 'EPERM':
      return 'this user may not write there'
    case 'EROFS':
      return 'the disk is read-only'
    case 'ENOTDIR':
    case 'EEXIST':
      return 'a part of its path is a file, not a folder'
    case 'ENOENT':
      return 'a folder on its path cannot be made'
    case 'EISDIR':
      return 'it is a folder'
    case 'ENAMETOOLONG':
      return 'a part of its path is too long for a file system'
    case 'ELOOP':
      return 'its path contains a loop of symbolic links'
  }
  switch (primaryCode(error)) {
    case SQLITE_CANTOPEN:
      return 'it is a folder, or this user may not read and write it and its folder'
    case SQLITE_READONLY:
      return 'this user may not write it or its folder, or the disk is read-only'
    case SQLITE_NOTADB:
      return 'it is not an SQLite database'
    case SQLITE_CORRUPT:
      return 'it is damaged; restore a backup in its place'
    case SQLITE_IOERR:
      return 'the system cannot read or write it'
  }
  return null
}

/** Node's name of a system error, such as EEXIST. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code
}

/** 0, which is no error code of SQLite, for other errors. */
function primaryCode(error: unknown): number {
  return ((error as { errcode?: number } | undefined)?.errcode ?? 0) & 0xff
}
