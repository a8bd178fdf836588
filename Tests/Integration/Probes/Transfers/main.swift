import Foundation
import WebServiceClient

// transfer-probe download URL FILE SEGMENTS          downloads a file, and continues an earlier download
// transfer-probe upload URL FILE PROTOCOL SESSION    uploads it by tus or google, and continues the session in the file SESSION
//
// Tests/Integration/transfers kills it and starts it again.

let arguments = Array(CommandLine.arguments.dropFirst())
// Without waits: the server cuts each connection, and isn't overloaded.
let policy = RetryPolicy(attempts: 10, backoff: Backoff(base: .milliseconds(2), cap: .milliseconds(20)))
guard arguments.count >= 4, let url = URL(string: arguments[1]) else {
    print("usage: transfer-probe download URL FILE SEGMENTS | upload URL FILE PROTOCOL SESSION")
    exit(2)
}
let file = URL(filePath: arguments[2])
let client = WebServiceClient(serviceRoot: url.absoluteString) { $0.retry = policy }
switch arguments[0] {
case "download":
    let options = DownloadOptions(segments: Int(arguments[3]) ?? 1)
    let result = try await client.http.get("/file").download(to: file, options: options)
    print("received \(result.received) of \(result.length) with \(result.requests) requests, \(result.restarts.count) restarts")
case "upload" where arguments.count == 5:
    // tuspyserver refuses uploads without them.
    let metadata = ["filename": file.lastPathComponent, "filetype": "application/octet-stream"]
    let rules: UploadProtocol =
        switch arguments[3] {
        case "tus": .tus(metadata: metadata)
        case "tus-pieces": .tus(metadata: metadata, pieces: 1 << 20)
        default: .google
        }
    let options = UploadOptions(sessionFile: URL(filePath: arguments[4]))
    try await client.http.post(arguments[3].hasPrefix("tus") ? "/files/" : "/sessions").upload(file, by: rules, options: options)
default:
    exit(2)
}
