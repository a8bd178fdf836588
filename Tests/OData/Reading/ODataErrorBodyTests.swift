import Foundation
import OData
import Testing

@Suite struct ODataErrorBodyTests {
    @Test func versionFour() throws {
        let json = #"""
            {"error":{"code":"501","message":"Unsupported","target":"query","details":[{"code":"301","target":"$search","message":"no"}],
            "innererror":{"trace":["a"]},"@Core.Severity":"high"}}
            """#
        let error = try #require(ODataErrorBody(Data(json.utf8)))
        #expect(error.code == "501" && error.message == "Unsupported" && error.target == "query")
        #expect(error.details.map(\.target) == ["$search"])
        #expect(error.innerError?["trace"]?.array == [.string("a")])
        #expect(error.others["@Core.Severity"]?.string == "high")
        #expect(error.description == "501: Unsupported (query) [301: no ($search)]")
    }

    @Test func versionsTwoAndThree() throws {
        let two = #"{"error":{"code":"X/1","message":{"lang":"en","value":"Wrong"},"innererror":{"a":1}}}"#
        #expect(try #require(ODataErrorBody(Data(two.utf8))).message == "Wrong")
        let three = #"{"odata.error":{"code":"","message":{"lang":"en","value":"Media type"}}}"#
        #expect(try #require(ODataErrorBody(Data(three.utf8))).description == "Media type")
    }

    @Test(arguments: ["", "<html>", "{}", "[]", "null", #"{"error":"x"}"#, #"{"error":{}}"#, #"{"error":null}"#, #"{"error":{"code":"#])
    func otherBodiesAreNone(body: String) {
        #expect(ODataErrorBody(Data(body.utf8)) == nil)
    }
}
