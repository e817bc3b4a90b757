import { KeyFileError } from './errors.ts'

/** Where the API key comes from. */
export interface KeySource {
  /** The current key. Throws KeyFileError. */
  get(): Promise<string>
  /** After a 401 for `refused`: the key that has replaced it, or null if none has. */
  replacementOf(refused: string): Promise<string | null>
}

/** The fixed prefix and hexadecimal digits (spec 2.2). */
export function isApiKey(text: string): boolean {
  return /^svc_live_[0-9a-f]+$/i.test(text)
}

export function fixedKey(key: string): KeySource {
  return { get: async () => key, replacementOf: async () => null }
}

/** Reads the file before the first request, and again after a 401. */
export function keyInFile(path: string | URL): KeySource {
  let current: string | null = null
  return {
    async get() {
      current ??= await readKey(path)
      return current
    },
    async replacementOf(refused) {
      // Another call may have read the file since.
      if (current === refused) current = await readKey(path)
      return current === refused ? null : current
    },
  }
}

async function readKey(path: string | URL): Promise<string> {
  let text: string
  try {
    // No import, which bundlers for runtimes without files refuse.
    text = await globalThis.process.getBuiltinModule('node:fs/promises').readFile(path, 'utf8')
  } catch (cause) {
    const { code } = cause as { code?: unknown }
    throw new KeyFileError(
      `apiKeyFile ${String(path)} can't be read${typeof code === 'string' ? ` (${code})` : ''}. Check its path and its mode, or pass apiKey instead.`,
      { cause },
    )
  }
  const key = text.trim()
  if (isApiKey(key)) return key
  throw new KeyFileError(
    `apiKeyFile ${String(path)} does not contain an API key. Write one key to it: svc_live_ and hexadecimal digits.`,
  )
}
