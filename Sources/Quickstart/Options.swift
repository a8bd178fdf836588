/// What the command line asks for.
struct Options {
    static let usage = """
        usage: swift run Quickstart [--service URL [--set NAME]]

          --service URL   explore the OData V4 service with this root instead of running the jobs on the embedded shop
          --set NAME      show this entity set of it, not the first
          --help          show this
        """

    var service: String?
    var set: String?
    var wantsHelp = false

    /// Reads the arguments behind the program's name.
    ///
    /// - Throws: ``QuickstartError`` that names the argument which is wrong.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": wantsHelp = true
            case "--service", "--set":
                guard let value = rest.popFirst(), !value.hasPrefix("--") else {
                    throw QuickstartError("\(argument) needs a value behind it.")
                }
                if argument == "--set" { set = value } else { service = value }
            default: throw QuickstartError("There is no argument \"\(argument)\".")
            }
        }
        if set != nil, service == nil { throw QuickstartError("--set needs --service: the embedded shop has one entity set only.") }
    }
}
