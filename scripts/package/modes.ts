import { gunzipSync, gzipSync } from 'node:zlib'

/**
 * The tarball with the modes 0644 and 0755. npm packs the modes of the files, and those depend on
 * the umask of the clone, of `npm ci` and of the build.
 */
export function withPlainModes(tarball: Buffer): Buffer {
  const tar = gunzipSync(tarball)
  const numberAt = (at: number) => Number.parseInt(tar.toString('latin1', at, at + 12), 8)
  for (let at = 0; tar[at] !== 0; at += 512 + 512 * Math.ceil(numberAt(at + 124) / 512)) {
    tar.write(numberAt(at + 100) & 0o100 ? '000755 \0' : '000644 \0', at + 100)
    // The sum of a header counts its own field as spaces.
    tar.write('        ', at + 148)
    const sum = tar.subarray(at, at + 512).reduce((total, byte) => total + byte, 0)
    tar.write(`${sum.toString(8).padStart(6, '0')} \0`, at + 148)
  }
  return gzipSync(tar, { level: 9 })
}
