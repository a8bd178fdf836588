import Foundation
import WebServiceClient
import WebServiceTesting

// probe exit URL ROOT_CERTIFICATE    calls URL over TLS, 32 at once, and exits after some milliseconds, whatever is under way
// probe stream                       200 MB down through a slow reader, and up from a file and from a stream; prints what was held
// probe pages [PAGES]                a million entities over a thousand pages, or so many; prints how much the process grew, and the speed
// probe shipping [COUNT]             ten thousand single records, a tenth as many flushes, as many records that are stored before the connection breaks

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "exit" where arguments.count == 3: try await ExitProbe(url: arguments[1], root: arguments[2]).run()
case "stream": try await StreamProbe().run()
case "pages": try await PagesProbe(pages: max(arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000, 4)).run()
case "shipping": try await ShippingProbe(count: max(arguments.dropFirst().first.flatMap { Int($0) } ?? 10_000, 10)).run()
default:
    print("usage: probe exit URL ROOT_CERTIFICATE | probe stream | probe pages [PAGES] | probe shipping [COUNT]")
    exit(2)
}
