import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ends } from '../battlefield/ends.ts'

/**
 * A file system inside a file. It can be filled to the last byte or made read-only, and mended
 * again.
 */
export interface SmallDisk {
  folder: string
  /** Takes all free space. */
  fill(): void
  empty(): void
  /**
   * Makes files with matching names read-only, even for processes that have them open. Returns
   * their number.
   */
  protect(names: RegExp): number
  unprotect(): void
}

const ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }

/** Only root may mount, and not in every container, so try it. */
export function canMountDisks(): boolean {
  const ends: (() => unknown)[] = []
  try {
    mountSmallDisk({ after: (end) => void ends.push(end) }, 1)
    return true
  } catch {
    return false
  } finally {
    for (const end of ends) end()
  }
}

export function mountSmallDisk(t: Ends, megabytes: number): SmallDisk {
  const home = mkdtempSync(join(tmpdir(), 'server-listing-disk-'))
  const [image, folder] = [join(home, 'image'), join(home, 'disk')]
  mkdirSync(folder)
  // A server of another user may live there.
  chmodSync(home, 0o755)
  writeFileSync(image, '')
  truncateSync(image, megabytes * 1024 * 1024)
  try {
    run('mkfs.ext4', '-q', '-F', '-m', '0', '-b', '1024', '-O', '^has_journal', image)
    run('mount', '-o', 'loop', image, folder)
  } catch (error) {
    rmSync(home, { recursive: true, force: true })
    throw error
  }
  const ballast = join(folder, 'ballast')
  let isProtected: string[] = []

  function unprotect(): void {
    const there = isProtected.filter((path) => existsSync(path))
    if (there.length > 0) run('chattr', '-i', ...there)
    isProtected = []
  }

  t.after(() => {
    // A lazy unmount works while a process has a file open, and while a file is protected.
    run('umount', '--lazy', folder)
    rmSync(home, { recursive: true, force: true })
  })

  return {
    folder,
    unprotect,

    fill() {
      const { bavail, bsize } = statfsSync(folder)
      const bytes = bavail * bsize
      // The index of the ballast needs room as well, so the rest goes in small pieces.
      if (bytes > 1024 * 1024) run('fallocate', '--length', String(bytes - 512 * 1024), ballast)
      for (let piece = 64 * 1024; piece >= 1024; piece /= 2) append(ballast, piece)
    },

    empty() {
      rmSync(ballast, { force: true })
    },

    protect(names) {
      isProtected = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && names.test(entry.name))
        .map(({ parentPath, name }) => join(parentPath, name))
      // `chattr` fails for files that are gone by now, and protects the others.
      spawnSync('chattr', ['-f', '+i', ...isProtected], { env: ENV })
      return isProtected.filter(refusesWrites).length
    },
  }
}

function refusesWrites(path: string): boolean {
  try {
    closeSync(openSync(path, 'r+'))
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function append(path: string, bytes: number): void {
  const zeros = Buffer.alloc(bytes)
  for (;;) {
    try {
      writeFileSync(path, zeros, { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
      throw error
    }
  }
}

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: ENV,
  })
}
