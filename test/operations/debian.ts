import { execFileSync } from 'node:child_process'

/**
 * Makes the base system of a Debian 12 in a new folder. Takes a minute or two, because it downloads
 * the packages. Needs root.
 */
export function bootstrapDebian(folder: string): void {
  const args = ['--variant=minbase', 'bookworm', folder, mirrorOfApt()]
  execFileSync('debootstrap', args, { stdio: 'ignore' })
}

/** The server from which this machine gets its packages. */
function mirrorOfApt(): string {
  const format = ['indextargets', '--format', '$(REPO_URI) $(COMPONENT) $(RELEASE)']
  const targets = execFileSync('apt-get', [...format, 'Created-By: Packages'], { encoding: 'utf8' })
  const [, uri] = /^(\S+) main bookworm$/m.exec(targets) ?? []
  if (uri === undefined) throw new Error(`apt knows no server of Debian 12: ${targets}`)
  return uri
}
