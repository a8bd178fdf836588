// swift-tools-version: 6.1

import PackageDescription

/// The language rules of every Swift target here: complete checking, and no import or existential by accident.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The settings of the shipped modules, which also require that a file imports the modules whose members it uses. Tests can't have this: the
/// clang module of `timeval` and similar types, Glibc or an overlay, changes with the order in which files are compiled.
let librarySettings = settings + [.enableUpcomingFeature("MemberImportVisibility")]

let package = Package(
    name: "web-service-client",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "WebServiceClient", targets: ["WebServiceClient"]),
        .library(name: "OData", targets: ["OData"]),
        .library(name: "ODataMetadata", targets: ["ODataMetadata"]),
        .library(name: "ODataGeneration", targets: ["ODataGeneration"]),
        .executable(name: "odata-generator", targets: ["ODataGenerator"]),
        .plugin(name: "ODataGeneratorPlugin", targets: ["ODataGeneratorPlugin"]),
        .plugin(name: "GenerateOData", targets: ["GenerateOData"]),
        .library(name: "RemoteLogger", targets: ["RemoteLogger"]),
        .library(name: "WebServiceTesting", targets: ["WebServiceTesting"]),
        .library(name: "HTTPTransport", targets: ["HTTPTransport"]),
        .library(name: "TransportConformance", targets: ["TransportConformance"]),
        .library(name: "ODataQueryParsing", targets: ["ODataQueryParsing"]),
        .executable(name: "Quickstart", targets: ["Quickstart"]),
    ],
    traits: [
        .trait(name: "AsyncHTTPClient", description: "AsyncHTTPClientTransport: calls over an HTTPClient of yours."),
        .trait(name: "SwiftLog", description: "RemoteLogHandler: what is logged by swift-log goes where RemoteLogger's records go."),
    ],
    dependencies: [
        // Each is for a trait that is off by default, and is fetched only where that trait is on: scripts/manifest shows it.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
    ],
    targets: [
        .target(name: "CSystemLibraries"),
        .target(
            name: "HTTPTransport",
            dependencies: [
                "CSystemLibraries",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPClient"])),
            ],
            swiftSettings: librarySettings),
        .target(name: "WebServiceClient", dependencies: ["HTTPTransport", "CSystemLibraries"], swiftSettings: librarySettings),
        // Depends on nothing, since tools that generate code are built for the host.
        .target(name: "ODataMetadata", swiftSettings: librarySettings),
        .target(name: "OData", dependencies: ["WebServiceClient", "ODataMetadata"], swiftSettings: librarySettings),
        // The generator runs on the host. It must not depend on modules that the generated code uses, or every package would build them
        // twice.
        .target(name: "ODataGeneration", dependencies: ["ODataMetadata"], swiftSettings: librarySettings),
        .executableTarget(
            name: "ODataGenerator", dependencies: ["ODataGeneration", "ODataMetadata"], swiftSettings: librarySettings),
        .plugin(name: "ODataGeneratorPlugin", capability: .buildTool(), dependencies: ["ODataGenerator"]),
        .plugin(
            name: "GenerateOData",
            capability: .command(
                intent: .custom(verb: "generate-odata", description: "Generates Swift code from the metadata documents of OData services."),
                permissions: [.writeToPackageDirectory(reason: "It writes the generated code beside the documents.")]),
            dependencies: ["ODataGenerator"]),
        .target(name: "ODataQueryParsing", dependencies: ["OData", "WebServiceClient"], swiftSettings: librarySettings),
        .target(
            name: "RemoteLogger",
            dependencies: [
                "WebServiceClient", "HTTPTransport", "CSystemLibraries",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
            ],
            swiftSettings: librarySettings),
        .target(name: "WebServiceTesting", dependencies: ["WebServiceClient"], swiftSettings: librarySettings),
        .target(
            name: "TransportConformance", dependencies: ["WebServiceTesting", "WebServiceClient"], swiftSettings: librarySettings),
        .executableTarget(
            name: "Quickstart",
            dependencies: ["WebServiceClient", "OData", "RemoteLogger", "WebServiceTesting"],
            swiftSettings: librarySettings),
        .executableTarget(
            name: "Examples", dependencies: ["WebServiceClient", "WebServiceTesting"], path: "Examples/Sources", swiftSettings: settings),
        // Shared by the tests of several modules. These are no products.
        .target(name: "ProcessLimits", path: "Tests/ProcessLimits"),
        .target(
            name: "TestSupport", dependencies: ["ProcessLimits", "WebServiceClient"], path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "HTTPTransportTests",
            dependencies: [
                "HTTPTransport", "WebServiceClient", "WebServiceTesting", "TransportConformance", "TestSupport", "CSystemLibraries",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPClient"])),
            ],
            path: "Tests/HTTPTransport", swiftSettings: settings),
        .testTarget(
            name: "WebServiceClientTests",
            dependencies: ["HTTPTransport", "WebServiceClient", "WebServiceTesting", "TestSupport", "CSystemLibraries"],
            path: "Tests/WebServiceClient", swiftSettings: settings),
        .testTarget(
            name: "ODataMetadataTests", dependencies: ["ODataMetadata", "TestSupport"], path: "Tests/ODataMetadata",
            swiftSettings: settings),
        .testTarget(
            name: "ODataGenerationTests", dependencies: ["ODataGeneration", "ODataMetadata", "TestSupport"], path: "Tests/ODataGeneration",
            swiftSettings: settings),
        .testTarget(
            name: "ODataTests", dependencies: ["OData", "ODataQueryParsing", "WebServiceTesting", "TestSupport"], path: "Tests/OData",
            swiftSettings: settings),
        .testTarget(
            name: "RemoteLoggerTests",
            dependencies: [
                "RemoteLogger", "WebServiceTesting", "TestSupport",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
            ],
            path: "Tests/RemoteLogger", swiftSettings: settings),
        .testTarget(
            name: "WebServiceTestingTests", dependencies: ["WebServiceTesting", "TestSupport"], path: "Tests/WebServiceTesting",
            swiftSettings: settings),
        .testTarget(
            name: "TransportConformanceTests", dependencies: ["TransportConformance", "WebServiceTesting", "TestSupport"],
            path: "Tests/TransportConformance", swiftSettings: settings),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "WebServiceClient", "OData", "RemoteLogger", "WebServiceTesting", "TransportConformance", "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPClient"])),
            ],
            path: "Tests/Integration",
            exclude: [
                "Probes", "batches", "cache-peers", "cache-sweep", "careless", "csdl-agreement", "dying-tunnel", "generated-code",
                "har-agreement", "mock-server", "odata2.py", "odata4", "openapi-agreement", "openapi-export", "servers", "servers-tls",
                "stress", "sweep", "transfers", "trusting",
            ],
            swiftSettings: settings),
    ]
)
