/** Browsers and programs, the more specific first: Edge also calls itself Chrome and Safari. */
const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
]
const SYSTEMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** A User-Agent in words, such as "Firefox on Windows". Browsers can claim anything. */
export function nameBrowser(userAgent: string): string {
  const browser = nameOf(BROWSERS, userAgent) ?? 'Unknown browser'
  const system = nameOf(SYSTEMS, userAgent)
  return system === undefined ? browser : `${browser} on ${system}`
}

function nameOf(
  names: readonly (readonly [pattern: RegExp, name: string])[],
  userAgent: string,
): string | undefined {
  return names.find(([pattern]) => pattern.test(userAgent))?.[1]
}
