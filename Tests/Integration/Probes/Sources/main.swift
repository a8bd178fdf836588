import Foundation
import WebServiceClient
import WebServiceTesting

// probe exit URL ROOT_CERTIFICATE    calls URL over TLS, 32 at once, and exits after some milliseconds, during calls
// probe serve                        the server of the next one, in a separate process: prints its URL
// probe stream URL [BOUND]           200 MB down through a slow reader, up from a file and from a stream; the process may hold BOUND bytes
// probe names [COUNT]                calls hosts whose names can't be resolved, and cancels COUNT (1000) of the calls: see `stress names`
// probe pages [PAGES]                a thousand entities per page over PAGES (1000) pages; prints the growth of the process, and the speed
// probe idle URL ROOT COUNT SECONDS  COUNT POSTs to URL/…, each up to SECONDS after the last, in 25 lanes: see `stress idle`
// probe shipping [COUNT]             ten thousand single records, a tenth as many flushes, as many stored before the connection breaks

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "exit" where arguments.count == 3: try await ExitProbe(url: arguments[1], root: arguments[2]).run()
case "serve": try StreamServer().run()
case "stream" where arguments.count >= 2:
    guard let url = URL(string: arguments[1]) else { throw URLError(.badURL) }
    try await StreamProbe(server: url, bound: arguments.count > 2 ? Int(arguments[2]) : nil).run()
case "names": try await NamesProbe(count: max(arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000, 10)).run()
case "pages": try await PagesProbe(pages: max(arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000, 4)).run()
case "shipping": try await ShippingProbe(count: max(arguments.dropFirst().first.flatMap { Int($0) } ?? 10_000, 10)).run()
case "idle" where arguments.count == 5:
    guard let url = URL(string: arguments[1]), let count = Int(arguments[3]), let seconds = Double(arguments[4]) else {
        throw URLError(.badURL)
    }
    try await IdleProbe(url: url, root: arguments[2], count: max(count, 1), longest: seconds).run()
default:
    print("usage: probe exit URL ROOT_CERTIFICATE | probe serve | probe stream URL [BOUND] | probe names [COUNT]")
    print("     | probe pages [PAGES] | probe shipping [COUNT] | probe idle URL ROOT COUNT SECONDS")
    exit(2)
}
