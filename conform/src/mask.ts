/** The characters of a key with the fixed prefix that a report shows (spec 2.2). */
const SHOWN = 16
/** The characters of any other key that a report shows. */
const SHOWN_OF_OTHERS = 4

/** Replaces keys in texts for a report, and everything that has most of a key. */
export type Mask = (text: string) => string

export function createMask(keys: readonly string[]): Mask {
  const patterns = keys.flatMap((key) => {
    const start = shownPart(key)
    const [encoded] = /^.*[^=]/.exec(Buffer.from(`${key}:`).toString('base64')) ?? ['']
    return [
      { pattern: new RegExp(`${quotePattern(start)}[^\\s",;&]+`, 'gi'), by: `${start}…` },
      {
        pattern: new RegExp(`${quotePattern(encoded.slice(0, -2))}[\\w+/=]*`, 'g'),
        by: '(the key in base64)',
      },
    ]
  })
  return (text) => patterns.reduce((masked, { pattern, by }) => masked.replace(pattern, by), text)
}

/** The beginning of a key, by which people recognize it. */
export function shownPart(key: string): string {
  return key.slice(0, key.startsWith('svc_live_') ? SHOWN : SHOWN_OF_OTHERS)
}

function quotePattern(text: string): string {
  return text.replaceAll(/[^\w]/g, '\\$&')
}
