import Testing

@testable import HTTPTransport

@Suite struct HTTPFieldsTests {
    @Test func `Common names are found by their bytes as they are written, others aren't`() {
        for text in ["Content-Type", "content-type", "ETag", "etag", "Strict-Transport-Security", "X-Request-ID", "age"] {
            let name = Array(text.utf8).withUnsafeBytes { HTTPFields.Name.common($0) }
            #expect(name?.rawName == text && name == HTTPFields.Name(text))
        }
        for text in ["", "CONTENT-TYPE", "Content-Typo", "X", String(repeating: "a", count: 32), String(repeating: "a", count: 33)] {
            #expect(Array(text.utf8).withUnsafeBytes { HTTPFields.Name.common($0) } == nil)
        }
    }

    @Test func `Names are compared without case and written as given`() {
        var fields: HTTPFields = ["x-Team": "core"]
        #expect(fields["X-TEAM"] == "core")
        fields["X-TEAM"] = "web"
        #expect(fields.count == 1 && fields[0].name.rawName == "X-TEAM")
        fields["x-team"] = nil
        #expect(fields.isEmpty)
    }

    @Test func `Several fields of a name are joined, kept apart and replaced together`() {
        var fields: HTTPFields = ["Via": "a", "Accept": "x", "via": "b"]
        #expect(fields["via"] == "a, b")
        #expect(fields[values: "Via"] == ["a", "b"])
        fields["Via"] = "c"
        #expect(fields.map(\.value) == ["c", "x"])
        fields.append("Via", "d")
        fields.replace(with: ["Via": "e", "VIA": "f"])
        #expect(fields[values: "Via"] == ["e", "f"])
        #expect(fields["Accept"] == "x")
    }

    @Test func `The description masks secrets`() {
        let fields: HTTPFields = ["Authorization": "Bearer s3cret", "Cookie": "s3cret", "X-Session-Token": "s3cret", "Accept": "a/b"]
        #expect(!fields.description.contains("s3cret"))
        #expect(fields.description.contains("Bearer") && fields.description.contains("a/b"))
    }

    @Test func `Nothing that can be printed of fields shows a secret`() {
        let fields: HTTPFields = [
            "Authorization": "Bearer s3cret", "Cookie": "s3cret", "Proxy-Authorization": "Basic s3cret", "Accept": "a/b",
        ]
        let lines = HTTPFields(Array(fields))
        for value in [fields, lines, Array(fields), fields[0], [fields]] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("s3cret") && text.contains("Authorization"), "\(text)")
            }
        }
        var dumped = ""
        dump(fields, to: &dumped)
        #expect(dumped.contains("Bearer") && dumped.contains("a/b"), "\(dumped)")
    }

    @Test(arguments: ["", "a b", "a:b", "ü", "a\n"]) func `What is no token is no name`(text: String) {
        #expect(!HTTPFields.Name(text).isValid)
    }

    @Test func `Of control characters only a tab may stand in a value`() {
        for scalar in (0...0x2029).compactMap(Unicode.Scalar.init) {
            for text in [String(scalar), "a value of more than fifteen bytes \(scalar)", "\(scalar) a value of more than fifteen bytes"] {
                let isControl = scalar.value < 0x20 && scalar != "\t" || scalar.value == 0x7F
                #expect(HTTPFields.Field.hasControls(text) == isControl, "\(scalar.value)")
            }
        }
    }

    @Test func `A token has the bytes of RFC 9110 §5.6.2`() {
        let allowed = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".unicodeScalars
        for scalar in (0...0x2FF).compactMap(Unicode.Scalar.init) {
            #expect(HTTPFields.Name(String(scalar)).isValid == allowed.contains(scalar), "\(scalar.value)")
            #expect(HTTPFields.Name("X-Some-Longer-Name\(scalar)").isValid == allowed.contains(scalar), "\(scalar.value)")
        }
        #expect(!HTTPFields.Name("").isValid)
        #expect(ServiceRequest.Method.get.isValid)
        for method in ["GET /", "", "GÈT"] { #expect(!ServiceRequest.Method(rawValue: method).isValid) }
    }
}
