import Foundation
import Testing

@testable import OData

/// Payloads of real services, found below the folder that `SHARED_DIRECTORY` names; without it these tests are skipped.
@Suite(.enabled(if: Payloads.folder != nil, "SHARED_DIRECTORY names no folder with payloads"))
struct PayloadTests {
    @Test(arguments: [
        "v4-graph-users.json", "v4-inline-count.json", "v4-trippin-people-20.json", "v4-full-metadata-set.json",
        "v4-inner-next-link.json", "v4-crossjoin.json", "v4-entity-references.json", "v4-graph-objects-by-id.json",
    ])
    func pagesAreReadWithoutLoss(name: String) throws {
        let data = try Payloads.data(name)
        let page = try ODataJSON.decoder().decode(ODataPage<DynamicEntity>.self, from: data)
        let plain = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(page.entities.count == (plain["value"] as? [Any])?.count)
        #expect(page.nextLink == plain["@odata.nextLink"] as? String)
        // Reading, writing and reading again gives the same.
        let again = try ODataJSON.decoder().decode([DynamicEntity].self, from: JSONEncoder().encode(page.entities))
        #expect(again == page.entities)
    }

    @Test(arguments: [
        ("v4-error-details.json", "501"), ("v4-error-plain.json", "500"), ("v4-graph-error.json", "Authorization_RequestDenied"),
    ])
    func errorsAreRead(name: String, code: String) throws {
        #expect(ODataErrorBody(try Payloads.data(name))?.code == code)
    }

    @Test func anErrorOfVersionThree() throws {
        let error = try #require(ODataErrorBody(try Payloads.data("v3-odata-error.json")))
        #expect(error.message == "Unsupported media type requested.")
        #expect(error.innerError?["stacktrace"]?.string?.isEmpty == false)
    }

    @Test func primitiveValues() throws {
        let entity = try ODataJSON.decoder().decode(DynamicEntity.self, from: Payloads.data("v4-primitive-values.json"))
        #expect(entity["NullValue"] == .null)
        #expect(entity["DecimalValue"]?.decimal == Decimal(string: "34.95"))
        #expect(entity["IntegerValue"]?.integer == -128)
        #expect(entity["TimeOfDayValue"]?.string.flatMap { EdmTimeOfDay($0) }?.description == "07:59:59.999")
    }
}

private enum Payloads {
    static var folder: String? {
        ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { $0 + "/conformance/payloads/" }
            .flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
    }

    static func data(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: (folder ?? "") + name))
    }
}
