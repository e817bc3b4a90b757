[Console]::OutputEncoding = [Text.Encoding]::UTF8
$key = "$env:SERVER_LISTING_KEY".Trim()
if ($key -cmatch '^svc_live_[0-9a-f]{64}$') {
  $headers = @{ Authorization = "Bearer $key" }
  foreach ($wait in 1, 2, 4, 8, 0) {
    $status = 0
    $answer = Invoke-RestMethod 'https://api.example.com/v1/servers' -Headers $headers -TimeoutSec 10 -SkipHttpErrorCheck -StatusCodeVariable status
    if ($status -notin 429, 502, 503) { break }
    Start-Sleep $wait
  }
  if ($status -eq 200) { $answer.servers | Format-Table name, address }
  else { Write-Error "The API gave no list: status $status" }
} else {
  Write-Error 'SERVER_LISTING_KEY must be svc_live_ and 64 hexadecimal digits'
}
