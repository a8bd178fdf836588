import Foundation
import OData
import Testing
import WebServiceClient

@Suite struct DescribedODataErrorTests {
    private static let body = Data(#"{"error":{"code":"x\u001b[31m","message":"No such order\u202e\nforged","details":[]}}"#.utf8)

    private static var errors: [any DescribedError] {
        get throws {
            [
                ODataQueryError.variableOutOfScope, ODataQueryError.invalidName("a b", role: "a property"), ODataLinkError.notLoaded,
                ODataLinkError.malformed("http://a\u{1B}[31m"), ODataLinkError.loop("/x\u{9B}"), ODataWriteError.relationChanged("Trips"),
                ODataWriteError.notAnEntity("Int"), try #require(ODataErrorBody(body)),
            ]
        }
    }

    @Test func `errors of OData have the same text everywhere, without control characters`() throws {
        for error in try Self.errors {
            let plain: any Error = error
            #expect(plain.localizedDescription == error.description && (plain as NSError).localizedDescription == error.description)
            #expect((plain as NSError).domain == "OData.\(type(of: error))" && (plain as NSError).code == 1)
            #expect(!error.description.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) || $0 == "\u{202E}" })
        }
        #expect(try Self.errors.last?.description == #"x\u{1B}[31m: No such order\u{202E}\nforged"#)
    }
}
