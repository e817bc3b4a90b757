import { readFileSync, writeFileSync } from 'node:fs'
import { launchChromium } from '../test/fixtures/browser/chromium.ts'

/*
 * `npm run icons` draws the icon of src/web/html/assets/icons.svg as the two files that browsers
 * without SVG icons and phones ask for. Run it after a change of the icon.
 */

const ASSETS = new URL('../src/web/html/assets/', import.meta.url)
const ICO_PX = 32
const PHONE_PX = 180

const symbol = readFileSync(new URL('icons.svg', ASSETS), 'utf8')
const browser = await launchChromium()
const page = await browser.newPage()
// A phone makes the corners round, and shows what is transparent in black.
writeFileSync(new URL('apple-touch-icon.png', ASSETS), await draw(PHONE_PX, 0.62, 1.3, '#f6f8f7'))
writeFileSync(new URL('favicon.ico', ASSETS), icoOf(await draw(ICO_PX, 1, 2, 'transparent')))
await browser.close()

/** The icon on a square, of whose width it takes a share. Its lines have 16 units to the width. */
async function draw(px: number, share: number, stroke: number, ground: string): Promise<Buffer> {
  await page.setViewportSize({ width: px, height: px })
  await page.setContent(`<style>
    body { margin: 0; display: grid; place-items: center; height: 100vh; background: ${ground} }
    svg { width: ${share * 100}vw; height: ${share * 100}vh; stroke-width: ${stroke} }
  </style>${symbol}`)
  return page.screenshot({ omitBackground: true })
}

/** An icon file with one picture, in PNG. */
function icoOf(png: Buffer): Buffer {
  const head = Buffer.alloc(22)
  head.writeUInt16LE(1, 2)
  head.writeUInt16LE(1, 4)
  head.writeUInt8(ICO_PX, 6)
  head.writeUInt8(ICO_PX, 7)
  head.writeUInt16LE(1, 10)
  head.writeUInt16LE(32, 12)
  head.writeUInt32LE(png.length, 14)
  head.writeUInt32LE(head.length, 18)
  return Buffer.concat([head, png])
}
