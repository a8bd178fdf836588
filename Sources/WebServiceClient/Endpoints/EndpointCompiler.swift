/// Compiles a descriptor for its key, and notes every fault on the way.
struct EndpointCompiler {
    let descriptor: EndpointDescriptor
    let key: String
    let names: ArgumentNames
    var plan: EndpointPlan
    var used: Set<Int> = []
    var faults: [TableFault] = []

    /// Compiles a descriptor.
    ///
    /// - Parameter root: the service root where it has placeholders, else `nil`.
    static func compile(_ descriptor: EndpointDescriptor, for name: MethodName, root: String?) -> (EndpointPlan, [TableFault]) {
        var compiler = EndpointCompiler(descriptor, name)
        compiler.compileMethod()
        if let root { compiler.plan.root = compiler.template(root, in: "the service root") }
        compiler.compileRoute()
        compiler.compileQuery()
        compiler.compileHeaders()
        compiler.compileCacheIdentifier()
        compiler.compileBody()
        compiler.checkSettings()
        return (compiler.plan, compiler.faults)
    }

    private init(_ descriptor: EndpointDescriptor, _ name: MethodName) {
        self.descriptor = descriptor
        key = name.description
        names = ArgumentNames(name, ignoring: descriptor.ignored)
        plan = EndpointPlan(key: name, method: descriptor.method, route: descriptor.route.text, names: names)
        plan.payloadRoot = descriptor.root
        plan.secretArguments = names.labels.indices.filter { SecretMask.hidesMember(named: names.labels[$0]) }
        plan.settings = descriptor.settings
        for label in descriptor.ignored.sorted() where !name.labels.contains(label) {
            add(.unknownArgument, ".ignoring(\"\(label)\") names no argument", Self.fix(nearest: NearestName.of(label, among: name.labels)))
        }
    }

    mutating func add(_ kind: TableFault.Kind, _ problem: String, _ fix: String) {
        faults.append(TableFault(kind: kind, key: key, problem: problem, fix: fix))
    }

    private static func fix(nearest: String?) -> String {
        nearest.map { "did you mean \"\($0)\"?" } ?? "use one of the method's labels or a position"
    }

    // MARK: Templates and references

    mutating func template(_ text: some StringProtocol, in place: String, isSecret: Bool = false) -> Template {
        var problems: [TemplateProblem] = []
        let template = Template(text, names: names) { problems.append($0) }
        used.formUnion(template.arguments)
        for problem in problems {
            let shown = isSecret ? "" : " \"\(SecretMask.text(ofURL: String(text)))\""
            add(problem.kind, in: "\(place)\(shown), column \(problem.column)")
        }
        return template
    }

    mutating func position(_ argument: EndpointArgument, in place: String) -> Int? {
        switch names.resolve(argument) {
        case .success(let position):
            used.insert(position)
            return position
        case .failure(let kind):
            add(kind, in: place)
            return nil
        }
    }

    mutating func add(_ kind: TemplateProblem.Kind, in place: String) {
        switch kind {
        case .unclosed:
            add(.badTemplate, "in \(place) there is %% without a closing %%", "close the placeholder, or write a single % as %25")
        case .noName(let text):
            add(.badTemplate, "in \(place) \"\(text)\" is no name of an argument", "write a label or a position between the %% marks")
        case .unknown(let name, let suggestion):
            add(.unknownArgument, "in \(place) \"\(name)\" is no argument of the method", Self.fix(nearest: suggestion))
        case .outOfRange(let number, let arity):
            let range = arity == 0 ? "the method has no arguments" : "the method's arguments are 0 to \(arity - 1)"
            add(.unknownArgument, "in \(place) there is no argument \(number)", range)
        case .ambiguous(let name):
            add(.unknownArgument, "in \(place) several arguments are labelled \"\(name)\"", "use their positions")
        }
    }

    private mutating func compileMethod() {
        if !descriptor.method.isValid {
            add(.badMethod, "\"\(descriptor.method)\" is no HTTP method", "use a name of letters, such as GET")
        } else if let known = descriptor.method.knownSpelling, known != descriptor.method {
            add(.badMethod, "\"\(descriptor.method)\" is no HTTP method, since they are case-sensitive", "write \(known)")
        }
    }
}
