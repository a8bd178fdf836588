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

    @Test func `all members of details are kept`() throws {
        let json = #"""
            {"error":{"code":"1","message":"m","details":[{"code":"2","message":"n","target":"t","innererror":{"a":1},"@Core.Severity":"high"},
            {"code":"3","message":"o"}]}}
            """#
        let details = try #require(ODataErrorBody(Data(json.utf8))).details
        #expect(details.map(\.code) == ["2", "3"] && details[0].target == "t" && details[1].others.properties.isEmpty)
        #expect(details[0].others == ["innererror": ["a": 1], "@Core.Severity": "high"])
        let sap = #"""
            {"error":{"code":"1","message":{"lang":"de","value":"m"},"innererror":{"transactionid":"X",
            "errordetails":[{"code":"2","message":"n","propertyref":"p","severity":"error"}]}}}
            """#
        let error = try #require(ODataErrorBody(Data(sap.utf8)))
        #expect(error.language == "de" && error.details.first?.target == "p" && error.details.first?.others == ["severity": "error"])
        // An empty target is none.
        let empty = sap.replacing(#""p""#, with: #""""#).replacing(#""code":"1""#, with: #""code":"1","target":"""#)
        let untargeted = try #require(ODataErrorBody(Data(empty.utf8)))
        #expect(untargeted.target == nil && untargeted.details.first?.target == nil && untargeted.description == "1: m [2: n]")
        // Details that aren't a list are kept in `others`.
        let odd = try #require(ODataErrorBody(Data(#"{"error":{"code":"1","message":"m","details":"see log"}}"#.utf8)))
        #expect(odd.details.isEmpty && odd.others["details"]?.string == "see log" && odd.language == nil)
        let none = try #require(ODataErrorBody(Data(#"{"error":{"code":"1","message":"m","details":null}}"#.utf8)))
        #expect(none.others.properties.isEmpty)
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
