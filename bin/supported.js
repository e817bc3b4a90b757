// Ends the program where it can't run, with the way that leads on. Old JavaScript on purpose, so
// that each runtime and each older Node.js can read it. It has no import, because it comes first.

/** What is missing here, or null. */
function complaintAbout({ platform, versions }) {
  const way = 'install Node.js 24.16 or newer, or run the image (docs/packages.md)'
  if (versions.bun || versions.deno)
    return `server-listing runs on Node.js, and this is ${versions.bun ? 'Bun' : 'Deno'}: ${way}.`
  if (platform === 'win32')
    return 'server-listing does not run on Windows: use WSL, or run the image (docs/packages.md).'
  const [major, minor] = versions.node.split('.').map(Number)
  if (major > 24 || (major === 24 && minor >= 16)) return null
  return `server-listing needs Node.js 24.16 or newer, and this is ${versions.node}: ${way}.`
}

const complaint = complaintAbout(process)
if (complaint !== null) {
  console.error(complaint)
  process.exit(2)
}
