import { escapeInvisible } from '../../../model/characters/invisible.ts'
import { bytesOf, NAME_COLUMNS, truncatedText } from '../../../web/html/text.ts'
import { type FoundServer, PAGE_SIZE } from '../../server-search.ts'

/*
 * The texts of a list of servers. Fifty rows of the longest ones fit into a page of 50 kB.
 */

type Text = 'name' | 'address' | 'edition' | 'version' | 'status'

const COLUMNS: Readonly<Record<Text, number>> = {
  name: NAME_COLUMNS,
  address: 28,
  edition: 12,
  version: 12,
  status: 12,
}

/** The bytes that each row has of each text, whatever the others take. */
const OWN_BYTES: Readonly<Record<Text, number>> = { ...COLUMNS, name: 40 }
/** Bytes of the `…` behind a cut text. */
const CUT_BYTES = 3
/** Bytes of all texts of a page. */
const PAGE_BYTES =
  PAGE_SIZE * Object.values(OWN_BYTES).reduce((sum, own) => sum + own + CUT_BYTES, 0)
/** Bytes of ` title=""`. */
const TITLE_BYTES = 9

export interface RowTexts extends Readonly<Record<Text, string>> {
  /** The whole name, if the row shows only its beginning and the page has room for it. */
  title: string | null
}

/**
 * Cuts the texts of each row to their columns. A row of letters with many bytes takes what other
 * rows leave, from the top. What is left after that goes to the titles of cut names.
 */
export function fitTexts(servers: readonly FoundServer[]): RowTexts[] {
  const narrow = servers.map((server) => cutAll(server, OWN_BYTES))
  let room = PAGE_BYTES - narrow.reduce((sum, texts) => sum + bytesOfAll(texts), 0)
  const take = (bytes: number) => {
    if (bytes > room) return false
    room -= bytes
    return true
  }
  const fitted = servers.map((server, row) => {
    const wide = cutAll(server, {})
    return take(bytesOfAll(wide) - bytesOfAll(narrow[row]!)) ? wide : narrow[row]!
  })
  return fitted.map((texts, row) => {
    const whole = escapeInvisible(servers[row]!.name)
    const hasTitle = texts.name !== whole && take(TITLE_BYTES + bytesOf(whole))
    return { ...texts, title: hasTitle ? whole : null }
  })
}

function cutAll(
  server: FoundServer,
  bytes: Readonly<Partial<Record<Text, number>>>,
): Record<Text, string> {
  const cut = (text: Text) => truncatedText(server[text] ?? '', COLUMNS[text], bytes[text])
  return {
    name: cut('name'),
    address: cut('address'),
    edition: cut('edition'),
    version: cut('version'),
    status: cut('status'),
  }
}

function bytesOfAll(texts: Record<Text, string>): number {
  return Object.values(texts).reduce((sum, text) => sum + bytesOf(text), 0)
}
