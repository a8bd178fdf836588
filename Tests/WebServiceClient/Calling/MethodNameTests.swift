import Testing

@testable import WebServiceClient

@Suite struct MethodNameTests {
    @Test(arguments: [
        ("user", [String](), true), ("user()", [], false), ("user(id:)", ["id"], false), ("get(_:)", ["_"], false),
        ("repository(owner:name:)", ["owner", "name"], false), ("größe(länge:)", ["länge"], false),
    ])
    func `A name is read as #function spells it`(text: String, labels: [String], isProperty: Bool) throws {
        let name = try MethodName(text)
        #expect(name.labels == labels)
        #expect(name.arity == labels.count)
        #expect(name.isProperty == isProperty)
        #expect(name.description == text)
    }

    @Test func `What #function yields is a name`() throws {
        func local(_ one: Int, two: Int) -> String { #function }
        #expect(try MethodName(local(1, two: 2)) == MethodName(baseName: "local", labels: ["", "two"]))
    }

    @Test(arguments: [
        ("user(id)", "user(id:)"), ("user(id: Int)", "user(id:)"), ("user(owner, name)", "user(owner:name:)"),
        ("user(owner: String, name: String)", "user(owner:name:)"), ("user(owner:name)", "user(owner:name:)"), ("user(id:", "user(id:)"),
        ("user(owner: name:)", "user(owner:name:)"), ("user(id:))", "user(id:)"), ("user(_ id: Int)", "user(_:)"),
        ("`default`()", "default()"), ("`in`", "in"), ("find(`in`:)", "find(in:)"), ("`get`(`in`:of:)", "get(in:of:)"),
    ])
    func `A wrong spelling is refused with what was meant`(text: String, meant: String) {
        let error = #expect(throws: MethodNameError.self) { try MethodName(text) }
        #expect(error?.suggestion == meant)
        #expect(error?.description.contains(text) == true)
    }

    @Test(arguments: ["", " ", "1user", "us er(id:)", "user-name", "(", ")", "()", "user(:)", "user(1:)", "a(b:)c"])
    func `What is no name is refused`(text: String) {
        #expect(throws: MethodNameError.self) { try MethodName(text) }
    }
}
