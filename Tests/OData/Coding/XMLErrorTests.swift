import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Errors in XML (OData Atom Format 4.0, section 21.1; OData 2.0, Atom Format), which services of versions 2 and 3 send.
@Suite struct XMLErrorTests {
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"

    static let errors: [(xml: String, code: String, message: String, language: String?)] = [
        (
            "<error xmlns=\"\(metadata)\"><code>SY/530</code><message xml:lang=\"en\">Wrong key</message></error>", "SY/530", "Wrong key",
            "en"
        ),
        (
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<error xmlns='\(metadata)'>\n  <code/>\n  <message xml:lang='de-DE'>Schlüssel</message>\n</error>\n",
            "", "Schlüssel", "de-DE"
        ),
        ("\u{FEFF}<?xml version=\"1.0\"?><error><code>1</code><message>a</message></error>", "1", "a", nil),
        (
            "<m:error xmlns:m=\"http://docs.oasis-open.org/odata/ns/metadata\"><m:code>x</m:code><m:message>b</m:message></m:error>", "x",
            "b", nil
        ),
        (
            "<error><code>5</code><message>a &lt;b&gt; &amp; &quot;c&quot; &apos;d&apos; &#228;&#x1F600;</message></error>", "5",
            "a <b> & \"c\" 'd' ä😀", nil
        ),
        ("<error><code>5</code><message><![CDATA[a <b> & ]] c]]></message></error>", "5", "a <b> & ]] c", nil),
        (
            "<!-- a --><error><!-- <code>9</code> --><code>5</code><?pi <code>?><message\n\txml:lang = \"en\" >a</message ></error><!-- end -->",
            "5", "a", "en"
        ),
        ("<error><message>only</message></error>", "", "only", nil), ("<error><code>c</code></error>", "c", "", nil),
        ("<error a='>' b=\"/&gt;\"><code>c</code><message>d</message></error>", "c", "d", nil),
        ("<error><code>c</code><message>a &unknown; &amp;lt; & b</message></error>", "c", "a &unknown; &lt; & b", nil),
        ("<error>\n<code>\n c \n</code><message>  two\n lines </message></error>", "c", "two\n lines", nil),
    ]

    @Test(arguments: errors) func `code, message and language are read`(xml: String, code: String, message: String, language: String?)
        throws
    {
        let error = try #require(ODataErrorBody(Data(xml.utf8)))
        #expect(error.code == code && error.message == message && error.language == language)
    }

    @Test func `details and inner errors are read as in JSON`() throws {
        let sap = """
            <?xml version="1.0" encoding="utf-8"?><error xmlns="\(Self.metadata)"><code>OO/000</code><message xml:lang="en">Locked</message>\
            <innererror><application><component_id>CA</component_id></application><transactionid>77AB</transactionid><timestamp/>\
            <errordetails><errordetail><code>A/1</code><message>first</message><propertyref>Seats</propertyref><severity>error</severity>\
            </errordetail><errordetail><code>A/2</code><message>second</message></errordetail></errordetails></innererror></error>
            """
        let error = try #require(ODataErrorBody(Data(sap.utf8)))
        #expect(error.details.map(\.code) == ["A/1", "A/2"] && error.details[0].target == "Seats" && error.details[1].message == "second")
        #expect(error.innerError?["transactionid"]?.string == "77AB" && error.innerError?["application"]?["component_id"]?.string == "CA")
        #expect(error.description.contains("Locked") && error.description.contains("first"))
        let four = """
            <m:error xmlns:m="urn:m"><m:code>1</m:code><m:message>a</m:message><m:target>T</m:target><m:details><m:detail><m:code>2</m:code>\
            <m:message>b</m:message><m:target>U</m:target></m:detail></m:details><m:innererror><message>c</message><stack>s</stack></m:innererror></m:error>
            """
        let read = try #require(ODataErrorBody(Data(four.utf8)))
        #expect(read.target == "T" && read.details.map(\.target) == ["U"] && read.innerError?["stack"]?.string == "s")
        let one = try #require(
            ODataErrorBody(
                Data(
                    "<error><code>1</code><message>a</message><innererror><errordetails><errordetail><code>x</code></errordetail></errordetails></innererror></error>"
                        .utf8)))
        #expect(one.details.map(\.code) == ["x"])
    }

    @Test(arguments: [
        "<html><body><error><code>1</code></error></body></html>", "<error/>", "<error></error>", "<error>text</error>",
        "<error><code>1</code>",
        "<error><code>1</message></error>", "<!DOCTYPE error [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><error><code>&x;</code></error>",
        "<!DOCTYPE error><error><code>1</code></error>", "<error><code>1</code></error><error><code>2</code></error>", "<", "<e", "<error",
        "<error a",
        "<error a=", "<error a='", "<error><![CDATA[", "<error><!--", "</error>", "<feed/>", "<error><other/></error>",
        "<error><code>1</code></error", "<?xml",
        "<>", "<error a='1'b='2'><code>1</code></error>", "<Error><code>1</code></Error>",
    ])
    func `other XML isn't an error of OData`(xml: String) {
        #expect(ODataErrorBody(Data(xml.utf8)) == nil)
    }

    @Test func `the search for XML errors is bounded`() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(ODataErrorBody(Data("<error><code>1</code>\(deep)".utf8)) == nil)
        let closed = String(repeating: "<a>", count: 70) + String(repeating: "</a>", count: 70)
        #expect(ODataErrorBody(Data("<error><code>1</code>\(closed)</error>".utf8)) == nil)
        #expect(ODataErrorBody(Data("<error><code>1</code>\(String(repeating: "<a/>", count: 20_000))</error>".utf8)) == nil)
        #expect(
            ODataErrorBody(Data("<error><code>1</code><message>\(String(repeating: "a", count: 2 << 20))</message></error>".utf8)) == nil)
        #expect(
            ODataErrorBody(Data("<error><code>1</code><message>\(String(repeating: "&", count: 500_000))</message></error>".utf8))?.code
                == "1")
    }

    @Test func `the header field or the declaration determines the charset`() throws {
        let latin = try #require(
            "<?xml version='1.0' encoding='ISO-8859-1'?><error><code>1</code><message>für</message></error>".data(using: .isoLatin1))
        #expect(ODataErrorBody(latin)?.message == "für")
        let wide = try #require(
            "<?xml version=\"1.0\" encoding=\"utf-16\"?><error><code>1</code><message>für</message></error>".data(using: .utf16))
        #expect(ODataErrorBody(wide)?.message == "für")
    }

    @Test(arguments: [
        ("<error><code/><message/></error>", "application/xml"), ("<error><message>\n </message></error>", "text/xml"),
        (#"{"error":{"code":null,"message":null}}"#, "application/json"), (#"{"error":{"code":"","message":""}}"#, "application/json"),
    ]) func `the body of an error without a message is in the description`(body: String, type: String) async {
        let stub = StubTransport()
        let client = stub.client(.v4)
        stub.fallback(.data(Data(body.utf8), type: type, status: 400))
        let error = await #expect(throws: ServiceError.self) { try await client.fetch(EntityRequest<DynamicEntity>(at: "E(1)")) }
        #expect(error?.message.hasSuffix(" (status 400)") == true && error?.message.contains("error") == true)
        #expect((error?.errorBody as? ODataErrorBody)?.message == "")
    }

    @Test(arguments: ODataVersion.allCases) func `a failure contains the service's message in XML`(version: ODataVersion) async throws {
        let stub = StubTransport()
        let client = stub.client(version)
        for type in ["application/xml", "application/xml;charset=utf-8", "application/atom+xml", "text/xml", "text/plain"] {
            stub.fallback(.data(Data(Self.errors[0].xml.utf8), type: type, status: 400))
            let error = await #expect(throws: ServiceError.self) { try await client.fetch(EntityRequest<DynamicEntity>(at: "E(1)")) }
            #expect(
                (error?.errorBody as? ODataErrorBody)?.code == "SY/530" && error?.message.contains("Wrong key") == true
                    && error?.status == 400)
            await #expect(throws: ServiceError.self) {
                for try await _ in client.entities(matching: FetchRequest<DynamicEntity>(from: "E")) {}
            }
            let change = await #expect(throws: ServiceError.self) { try await client.delete(EntityRequest<DynamicEntity>(at: "E(1)")) }
            #expect((change?.errorBody as? ODataErrorBody)?.message == "Wrong key")
        }
    }
}
