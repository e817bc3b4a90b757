import { dirname, join } from 'node:path/posix'

/** Where the files of a tree stand after a move. All paths are relative to the root. */
export interface Renames {
  /** The new path of a file, or of a folder that moves as a whole. */
  of(path: string): string
  /** True if the tree before the move has the file or the folder. */
  isKnown(path: string): boolean
  /** Replaces each path that a text names. `folder` is the folder of the file with the text. */
  inText(text: string, folder: string): string
  /** Does so in a string of a program, which may also be the path of a page. */
  inString(text: string, folder: string): string
}

/** A path with at least one slash, not after another part of a path or of a URL. */
const PATH = /(?<![\w./@:-])(?:\.{1,2}\/)*[\w@][\w.@-]*(?:\/[\w@-][\w.@-]*)+\/?/g
/** Documents and comments may leave these folders out. */
const LEFT_OUT = ['src/', 'test/']

export function renamesOf(files: Iterable<string>, moved: ReadonlyMap<string, string>): Renames {
  const targets = new Map([...files].map((file) => [file, moved.get(file) ?? file]))
  const folders = foldersOf(targets)

  function of(path: string): string {
    return targets.get(path) ?? folders.get(path) ?? path
  }

  function isKnown(path: string): boolean {
    return path === '.' || targets.has(path) || folders.has(path)
  }

  function renamed(token: string, folder: string, isProse: boolean): string {
    const [path = '', end = ''] = token.split(/(\/?\.*)$/)
    if (isKnown(path)) return of(path) + end
    for (const start of LEFT_OUT) {
      const target = of(start + path)
      // Without its first folder, the name of a folder may be something else, such as a media type.
      const isClear =
        targets.has(start + path) || (isProse && end.startsWith('/') && isKnown(start + path))
      if (isClear && target.startsWith(start)) return target.slice(start.length) + end
    }
    const near = join(folder, path)
    if (!isKnown(near) || of(near) === near) return token
    return relativeTo(folder, of(near), path) + end
  }

  return {
    of,
    isKnown,
    inText: (text, folder) => text.replaceAll(PATH, (token) => renamed(token, folder, true)),
    inString: (text, folder) => text.replaceAll(PATH, (token) => renamed(token, folder, false)),
  }
}

/** `path` as it is written in a file of `folder`; it starts with a dot if `before` does. */
export function relativeTo(folder: string, path: string, before: string): string {
  const [from, to] = [folder, path].map((name) => name.split('/').filter((part) => part !== '.'))
  while (from!.length > 0 && from![0] === to![0]) {
    from!.shift()
    to!.shift()
  }
  const steps = [...from!.map(() => '..'), ...to!]
  const isBare = steps[0] !== '..' && before.startsWith('.')
  return [...(isBare ? ['.'] : []), ...steps].join('/')
}

/** Each folder with its new path, or with its old one if its files do not stay together. */
function foldersOf(targets: ReadonlyMap<string, string>): Map<string, string> {
  const folders = new Map<string, string>()
  for (const [file, target] of targets)
    for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
      const rest = file.slice(folder.length)
      const place = target.endsWith(rest) ? target.slice(0, -rest.length) : folder
      const known = folders.get(folder)
      folders.set(folder, known === undefined || known === place ? place : folder)
    }
  return folders
}
