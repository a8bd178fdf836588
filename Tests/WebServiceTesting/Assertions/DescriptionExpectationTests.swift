import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@Suite struct DescriptionExpectationTests {
    private final class Depot: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            ["item(id:)": .get("/items/%%id%%"), "items(page:)": .get("/items").query("page", .argument(0))]
        }
    }

    private let folder = TemporaryFolder()
    private var file: URL { folder.url.appending(path: "Depot.json") }

    private func store(_ change: (inout ClientDescription) -> Void = { _ in }) throws {
        var description = Depot.describe()
        change(&description)
        try description.json.write(to: file, atomically: true, encoding: .utf8)
    }

    private func failure(
        allowing allowed: Set<DescriptionChange.Kind> = [], refusing refused: Set<DescriptionChange.Kind> = []
    ) -> String {
        do {
            try expectNoBreakingChanges(of: Depot.self, since: file, allowing: allowed, refusing: refused)
            return ""
        } catch {
            return error.description
        }
    }

    @Test func `The same table has no change`() throws {
        try Depot.describe(as: .json).write(to: file, atomically: true, encoding: .utf8)
        try expectNoBreakingChanges(of: Depot.self, since: file)
    }

    @Test func `Changes are failures by their effects, which can be overridden`() throws {
        try store {
            $0.endpoints[0].route = "/things/%%id%%"
            $0.endpoints[1].key = "things(page:)"
        }
        let text = failure()
        #expect(text.contains("The table of Depot has 2 changes since Depot.json"), "\(text)")
        #expect(text.contains("that affect callers:\n  - \"things(page:)\": the key was removed"), "\(text)")
        #expect(text.contains("that affect the wire:\n  - \"item(id:)\": the route: /things/%%id%% → /items/%%id%% [route]"), "\(text)")
        #expect(!text.contains("keyAdded"))
        #expect(failure(allowing: [.route]).contains("has a change since"))
        #expect(failure(allowing: [.route, .keyRemoved]).isEmpty)
        #expect(failure(allowing: [.route, .keyRemoved], refusing: [.keyAdded]).contains("that affect neither:\n  - \"items(page:)\""))
    }

    @Test func `Neutral changes pass`() throws {
        try store {
            $0.endpoints.removeFirst()
            $0.client = "Store"
        }
        #expect(failure().isEmpty)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"version": 1, "client": "Depot", "endpoints": []}"#, #"{"version": 2}"#, #"{"version": 99}"#, "no",
    ])
    func `A file without a description of this format is a failure`(text: String) throws {
        #expect(failure().contains("it can't be read") && failure().contains("Depot.describe(as: .json)"))
        try text.write(to: file, atomically: true, encoding: .utf8)
        #expect(failure().contains("Depot.json has no description of Depot"))
        #expect(!text.contains("version\": 1") || failure().contains("format version 1"))
    }
}
