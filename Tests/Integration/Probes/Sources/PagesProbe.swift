import Foundation
import OData
import WebServiceClient
import WebServiceTesting

/// Iterates a million entities over a thousand pages of a server on the loopback interface, and prints the growth of the process and the
/// speed, of server and client together: the memory must be small, and must not grow with the pages.
struct PagesProbe {
    private struct Product: Decodable, Sendable, EntityType {
        static let entitySetName = "Products"
        let ID: Int
        let Name: String
        let Description: String
        let Price: Decimal
        let Rating: Int
        let ReleaseDate: EdmDateTimeOffset
        let Category: String?
    }

    private static let pageSize = 1_000

    let pages: Int

    func run() async throws {
        let (pages, filler) = (pages, String(repeating: "Handle with care, please. ", count: 5))
        let server = try LoopbackServer(options: .init(recordingLimit: 0)) { routes in
            routes.get("/svc/Products") { request in
                let number = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 0
                return .json(Self.page(number, of: pages, filler))
            }
        }
        for (name, streams) in [("streamed", true), ("whole pages", false)] {
            let client = ODataClient(serviceRoot: server.url.absoluteString + "/svc")
            client.streamsPages = streams
            // A few pages first, for allocations that are made once.
            var warm = client.entities(matching: FetchRequest<Product>()).makeAsyncIterator()
            for _ in 0..<3 * Self.pageSize { _ = try await warm.next() }
            try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
            let before = Self.peak()
            let start = ContinuousClock.now
            var (count, sum, growth) = (0, 0, [Int]())
            for try await product in client.entities(matching: FetchRequest<Product>()) {
                count += 1
                sum += product.ID
                if count % max(pages / 4 * Self.pageSize, 1) == 0 { growth.append(Self.peak() - before) }
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let expected = pages * Self.pageSize
            guard count == expected, sum == expected * (expected - 1) / 2 else { throw CocoaError(.coderInvalidValue) }
            print(
                "\(name): \(count) entities over \(pages) pages in \(String(format: "%.1f", seconds)) s, \(Int(Double(count) / seconds)) a second;",
                "peak of resident memory above the beginning, after each quarter: \(growth.map { "\($0) kB" }.joined(separator: ", "))")
        }
    }

    private static func page(_ number: Int, of pages: Int, _ filler: String) -> String {
        var text = #"{"@odata.context":"$metadata#Products","value":["#
        for id in number * pageSize..<(number + 1) * pageSize {
            text += (id % pageSize == 0 ? "" : ",") + #"{"ID":\#(id),"Name":"Product number \#(id)","Description":"\#(filler)","#
            text += #""Price":\#(id % 1000).25,"Rating":\#(id % 5),"ReleaseDate":"2012-12-\#(10 + id % 20)T07:16:23Z","#
            text += id % 2 == 0 ? #""Category":null}"# : #""Category":"Category \#(id % 13)"}"#
        }
        return text + (number + 1 < pages ? #"],"@odata.nextLink":"Products?$skiptoken=\#(number + 1)"}"# : "]}")
    }

    /// The maximum resident memory so far in kB; 0 if the system doesn't report it.
    private static func peak() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
