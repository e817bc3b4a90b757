import { escapedPieces, isPlain, onDemand } from './invisible.ts'

/*
 * How wide a text is on a screen, in columns: a Latin letter takes one.
 */

/** What a reader sees as one character, with its marks. An emoji is one, too. */
export interface Cluster {
  text: string
  columns: number
}

/** Code units of a cluster. No language has longer ones; a letter with a hundred marks is cut. */
const CLUSTER_LENGTH_MAX = 20

/**
 * The clusters of a text, with invisible characters spelled out as `escapeInvisible` does. Examines
 * no more than the code units of `lengthMax` need: a page has hundreds of texts.
 */
export function* clustersOf(
  text: string,
  lengthMax = Number.POSITIVE_INFINITY,
): Generator<Cluster, void> {
  if (isPlain(text)) for (const character of text) yield { text: character, columns: 1 }
  else yield* joinPieces(takePieces(text, lengthMax))
}

/** The last one goes beyond the length, so that only a cluster beyond it can lack its end. */
function takePieces(text: string, lengthMax: number): string[] {
  const pieces: string[] = []
  let length = 0
  for (const piece of escapedPieces(text)) {
    pieces.push(piece)
    length += piece.length
    if (length > lengthMax) break
  }
  return pieces
}

/** A cluster ends neither within a letter with its marks nor within what `escapedPieces` yields. */
function* joinPieces(pieces: readonly string[]): Generator<Cluster, void> {
  const ends = new Set<number>()
  for (const { index, segment } of segmenter().segment(pieces.join('')))
    ends.add(index + segment.length)
  let [at, cluster] = [0, '']
  for (const piece of pieces) {
    cluster += piece
    at += piece.length
    if (!ends.has(at) && cluster.length < CLUSTER_LENGTH_MAX) continue
    yield { text: cluster, columns: columnsOf(cluster) }
    cluster = ''
  }
}

/** Columns of a text, as tables in a terminal align it. */
export function displayWidth(text: string): number {
  if (isPlain(text)) return text.length
  let width = 0
  for (const { columns } of clustersOf(text)) width += columns
  return width
}

function columnsOf(cluster: string): number {
  if (cluster.startsWith('\\u{')) return cluster.indexOf('}') + 1
  if (isUnseen().test(cluster)) return 0
  return isWide().test(cluster) ? 2 : 1
}

// Making this takes longer than anything that a page does with it.
const segmenter = onDemand(() => new Intl.Segmenter('en', { granularity: 'grapheme' }))

/** Marks and joiners without a letter. */
const isUnseen = onDemand(() => /^[\p{Mn}\p{Me}\p{Cf}]+$/u)

/** The wide and fullwidth ranges of Unicode's UAX 11, and pictures. */
const isWide = onDemand(
  () =>
    /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|.\ufe0f|\p{Extended_Pictographic}\u200d|\p{RI}\p{RI})/u,
)
